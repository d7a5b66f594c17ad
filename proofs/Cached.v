(* Section 13: Theorem 5. The interval [x, z] of a late job is found in the trace; its steps, waits
   and jobs are counted; so (T2) fails. Then the circle is closed with the counters. *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Demand Victims Sporadic Trace Reserve Costs Edf Closing Registers
  Stretches.
Import ListNotations.
Open Scope Z_scope.

Lemma bus_nonneg : forall d, device_ok d -> 0 <= bus d.
Proof. unfold device_ok, bus. intros d H. apply Z.mul_nonneg_nonneg; lia. Qed.

Section Late.
  Variable d : device.
  Variable P : processor.
  Variable X : rtrace.
  Hypothesis dev : device_ok d.
  Hypothesis ok : parameters_ok P.
  Hypothesis chip : cached d P.
  Hypothesis rules : obeys_registers d P X.

  Let n := length (v_jobs X).
  Notation steps := (v_steps X).
  Notation C := (counted_trace X).
  Notation b := (bus d).
  Notation jb := (vjb X).
  Notation kindj := (job_kind P X).
  Notation kinds s := (kind_of (g_act s)).
  Notation rs := (p_rs P).
  Notation g := (p_g P).

  Let cnt : counted P C := x_counted d P X rules.

  Variable z : Z.
  Variable j : nat.
  Hypothesis j_in : (j < n)%nat.
  Hypothesis j_due_z : j_due (jb j) = z.
  Hypothesis j_late : over X j z = false.
  Hypothesis z_end : z <= v_end X.

  Lemma split_at : forall t k l0 r0, steps = l0 ++ k ++ r0 -> exists a c, k = a ++ c /\
    (forall s, In s a -> g_st s < t) /\ (forall s, In s c -> t <= g_st s).
  Proof.
    intros t. induction k as [|s k IH]; intros l0 r0 H.
    - exists [], []. split; [reflexivity|]. split; intros s [].
    - destruct (Z.lt_ge_cases (g_st s) t) as [Hlt|Hge].
      + destruct (IH (l0 ++ [s]) r0) as [a [c [H1 [H2 H3]]]]; [rewrite H, <- app_assoc;
          reflexivity|].
        exists (s :: a), c. split; [rewrite H1; reflexivity|].
        split; [intros q [<-|Hq]; auto|assumption].
      + exists [], (s :: k). split; [reflexivity|]. split; [intros q []|].
        intros q [<-|Hq]; [lia|].
        pose proof (later d P X rules l0 s (k ++ r0) q H ltac:(apply in_or_app; left; assumption)).
        lia.
  Qed.

  (* Whether the last step of job k begins before t. *)
  Definition begun_by (t : Z) (k : nat) : bool :=
    existsb (fun s => Nat.eqb (g_job s) k && g_last s && (g_st s <? t)) steps.

  Lemma begun_by_elim : forall t k, begun_by t k = true -> exists s, In s steps /\ g_job s = k /\
    g_last s = true /\ g_st s < t.
  Proof.
    intros t k H. apply existsb_exists in H. destruct H as [s [H1 H2]]. exists s.
    apply andb_true_iff in H2. destruct H2 as [H2 H3]. apply andb_true_iff in H2.
    destruct H2 as [H2 H4]. apply Nat.eqb_eq in H2. apply Z.ltb_lt in H3. auto.
  Qed.

  Lemma begun_by_intro : forall t s, In s steps -> g_last s = true -> g_st s < t ->
    begun_by t (g_job s) = true.
  Proof.
    intros t s H1 H2 H3. apply existsb_exists. exists s. split; [assumption|].
    rewrite Nat.eqb_refl, H2. simpl. apply Z.ltb_lt. assumption.
  Qed.

  (* A prefix that has begun before t. *)
  Lemma not_begun : forall l r t k, steps = l ++ r -> (forall q, In q l -> g_st q < t) ->
    begun_by t k = false -> begun l k = false.
  Proof.
    intros l r t k H Hl Hb. destruct (begun l k) eqn:E; [exfalso|reflexivity].
    apply begun_step in E. destruct E as [s [H1 [H2 H3]]].
    assert (Hc : begun_by t (g_job s) = true).
    { apply begun_by_intro; [rewrite H; apply in_or_app; left; assumption|assumption|auto]. }
    congruence.
  Qed.

  (* Some job released before t and due by z has a step not begun before t. *)
  Let live (t : Z) : bool :=
    existsb (fun k => (j_rel (jb k) <? t) && (j_due (jb k) <=? z) && negb (begun_by t k)) (seq 0 n).

  Lemma live_intro : forall t k, (k < n)%nat -> j_rel (jb k) < t -> j_due (jb k) <= z ->
    begun_by t k = false -> live t = true.
  Proof.
    intros t k Hk H1 H2 H3. apply existsb_exists. exists k. split; [apply in_seq; lia|].
    rewrite H3. destruct (Z.ltb_spec (j_rel (jb k)) t); [|lia].
    destruct (Z.leb_spec (j_due (jb k)) z); [reflexivity|lia].
  Qed.

  Lemma live_elim : forall t, live t = true -> exists k, (k < n)%nat /\ j_rel (jb k) < t /\
    j_due (jb k) <= z /\ begun_by t k = false.
  Proof.
    intros t H. apply existsb_exists in H. destruct H as [k [Hk H]]. apply in_seq in Hk.
    apply andb_true_iff in H. destruct H as [H H3]. apply andb_true_iff in H. destruct H as [H1 H2].
    apply Z.ltb_lt in H1. apply Z.leb_le in H2. apply negb_true_iff in H3. exists k.
    split; [lia|auto].
  Qed.

  Lemma one_last : forall l s r q, steps = l ++ s :: r -> g_last s = true -> In q steps ->
    g_job q = g_job s -> g_last q = true -> g_st s <= g_st q.
  Proof.
    intros l s r q H Hs Hq Hj Hl. rewrite H in Hq. apply in_app_or in Hq.
    destruct Hq as [Hq|[->|Hq]]; [exfalso|lia|apply (later d P X rules l s r q H Hq)].
    destruct (X3_first d P X rules l s r H) as [[_ [_ Hb]] _].
    assert (begun l (g_job s) = true); [|congruence]. apply begun_step. exists q. auto.
  Qed.

  (* The steps that are considered: up to the last step of the late job, or those before z. *)
  Lemma considered : exists L rest y, steps = L ++ rest /\ 0 <= y <= z /\
    (forall s, In s L -> g_st s <= y /\ g_st s < z) /\ j_rel (jb j) <= y /\
    begun_by y j = false /\
    ((y = z /\ (forall q, In q rest -> z <= g_st q) /\ begun L j = false) \/
     (exists L0 s, L = L0 ++ [s] /\ g_job s = j /\ g_st s = y /\ g_last s = true /\ z < g_en s)).
  Proof.
    assert (Hrel : j_rel (jb j) < z /\ 0 <= z).
    { destruct (late_window P C ok cnt z j j_in (x_real_time d P X rules j j_in) j_due_z)
        as [dd [_ [H1 H2]]]. pose proof (released P C cnt j j_in).
      change (j_rel (Trace.jb C j)) with (j_rel (jb j)) in *. lia. }
    destruct (begun_by z j) eqn:Eb.
    - destruct (begun_by_elim z j Eb) as [s [Hs [Hj [Hl Hz]]]].
      pose proof Hs as Hs0. apply in_split in Hs. destruct Hs as [L0 [r Hs]].
      pose proof (in_order d P X rules L0 s r Hs) as [H0 [_ Ho]].
      exists (L0 ++ [s]), r, (g_st s).
      split; [rewrite <- app_assoc; assumption|]. split; [lia|].
      split. { intros q Hq. apply in_app_or in Hq. destruct Hq as [Hq|[<-|[]]]; [|lia].
               specialize (Ho q Hq). lia. }
      destruct (X3_first d P X rules L0 s r Hs) as [[_ [Hr _]] _]. rewrite Hj in Hr.
      split; [assumption|]. split.
      { destruct (begun_by (g_st s) j) eqn:E; [exfalso|reflexivity].
        destruct (begun_by_elim _ _ E) as [q [Hq [Hqj [Hql Hqz]]]].
        pose proof (one_last L0 s r q Hs Hl Hq ltac:(congruence) Hql). lia. }
      right. exists L0, s. repeat (split; [auto|]).
      destruct (Z.lt_ge_cases z (g_en s)) as [|Hge]; [assumption|exfalso].
      assert (over X j z = true); [|congruence]. apply existsb_exists. exists s.
      split; [assumption|].
      rewrite Hj, Nat.eqb_refl, Hl. apply Z.leb_le. assumption.
    - destruct (split_at z steps [] []) as [L [rest [H1 [H2 H3]]]]; [simpl; rewrite app_nil_r;
        reflexivity|].
      exists L, rest, z. split; [assumption|]. split; [lia|].
      split; [intros s Hs; specialize (H2 s Hs); lia|]. split; [lia|]. split; [assumption|].
      left. split; [reflexivity|]. split; [assumption|].
      apply (not_begun L rest z j H1 H2 Eb).
  Qed.

  Lemma kind_known : forall m, (m < n)%nat ->
    (kindj m = KRead -> reads_any rs = true) /\ (kindj m <> KRead -> writes rs = true).
  Proof.
    intros m Hm. unfold job_kind.
    pose proof (x_real_time d P X rules m Hm) as Hr. unfold real_time, is_request, is_gc in Hr.
    change (Trace.jb C m) with (jb m) in Hr.
    destruct (j_class (jb m)) as [i|k|i|] eqn:Ec; try discriminate.
    - destruct (sporadic P C cnt m i Hm Ec) as [Hi _].
      assert (Hin : In (rq P i) rs) by (apply nth_In; assumption).
      destruct (Z.eqb_spec (r_w (rq P i)) 0) as [E|E]; split; intros Hk; try congruence.
      + unfold reads_any. apply existsb_exists. exists (rq P i). split; [assumption|].
        unfold reading. rewrite E. reflexivity.
      + apply writes_spec. exists (rq P i). split; [assumption|].
        pose proof (ok_requests P ok _ Hin) as Hok. unfold request_ok in Hok. lia.
    - split; [discriminate|intros _].
      destruct (R1_released P C cnt m k Hm Ec) as [Hk0 [Hk1 _]].
      destruct (writes rs) eqn:E; [reflexivity|exfalso].
      assert (arrived C (j_rel (Trace.jb C m)) = 0).
      { apply sumn_zero. intros q Hq. destruct (is_request C q) eqn:Er; simpl; [|reflexivity].
        unfold is_request in Er. destruct (j_class (Trace.jb C q)) eqn:Ec2; try discriminate.
        pose proof (sporadic P C cnt q i Hq Ec2) as [Hi Hsp].
        assert (Hin : In (rq P i) rs) by (apply nth_In; assumption).
        rewrite (no_writer rs (ok_requests P ok) E (rq P i) Hin) in Hsp.
        destruct (j_rel (Trace.jb C q) <=? j_rel (Trace.jb C m)); lia. }
      pose proof (alpha_positive P C ok). nia.
  Qed.

  Lemma step_kind : forall s, In s steps -> (g_job s < n)%nat /\ kinds s = kindj (g_job s).
  Proof.
    intros s Hs. split; [|apply (kind_step d P X rules); assumption].
    apply in_split in Hs. destruct Hs as [l [r Hs]]. apply (X3_first d P X rules l s r Hs).
  Qed.

  (* A step of a pass. *)
  Lemma pass_step : forall s, In s steps -> kinds s = KPass ->
    g_en s - g_st s <= Z.max (t_e d) (t_r d + t_w d).
  Proof.
    intros s Hs Hk. destruct (step_kind s Hs) as [Hm Hkm]. rewrite Hk in Hkm.
    apply in_split in Hs. destruct Hs as [l [r Hs]].
    pose proof (prefix_rule P C cnt _ _ _ (counted_split X l s r Hs)) as Hr. unfold step_rule in Hr.
    destruct Hr as [_ [_ [_ [_ [_ [_ [_ Hr]]]]]]]. simpl in Hr. rewrite Hk in Hr.
    pose proof (x_real_time d P X rules _ Hm) as Hrt. unfold real_time, is_request, is_gc in Hrt.
    unfold job_kind in Hkm. change (Trace.jb C (g_job s)) with (jb (g_job s)) in *.
    unfold device_ok in dev. pose proof (cached_pass d P chip). pose proof (cached_row d P chip).
    destruct (j_class (jb (g_job s))) as [i|k|i|]; try discriminate.
    - destruct (r_w (rq P i) =? 0); discriminate.
    - destruct Hr as [_ Hr]. destruct (g_act s); simpl in *; unfold reads_cost in *; lia.
  Qed.

  Hypothesis picks : picks_up_to P C (z - 1).

  Section Counting.
    Variable x : Z.
    Variables l0 w rest : list rstep.
    Hypothesis split0 : steps = l0 ++ w ++ rest.
    Hypothesis x_z : x < z.
    Hypothesis w_in : forall s, In s w -> x <= g_st s < z.
    Notation sel := (sel X x z).
    Hypothesis owned : forall s, In s w -> sel (g_job s) = true.

    (* What of the steps of w is of job m is no more than what the counters' trace gives it. *)
    Lemma of_job : forall m (h : rstep -> Z),
      (forall s, In s w -> h s <= Z.min (s_en (counted_step s)) z - g_st s) ->
      suml (fun s => if Nat.eqb (g_job s) m then h s else 0) w <= executed C z m.
    Proof.
      intros m h Hh. unfold executed. simpl. rewrite split0.
      assert (Hmap : forall (f : step -> Z) (l : list rstep),
        suml f (map counted_step l) = suml (fun s => f (counted_step s)) l).
      { intros f l. induction l; simpl; [reflexivity|]. rewrite IHl. reflexivity. }
      rewrite Hmap, !suml_app.
      set (f := fun s : rstep => if Nat.eqb (s_job (counted_step s)) m && (s_st (counted_step s)
        <? z)
        then Z.min (s_en (counted_step s)) z - s_st (counted_step s) else 0).
      change (suml (fun s => if Nat.eqb (g_job s) m then h s else 0) w
        <= suml f l0 + (suml f w + suml f rest)).
      assert (Hf : forall s, In s steps -> 0 <= f s).
      { intros s Hs. unfold f. simpl.
        apply in_split in Hs. destruct Hs as [l [r Hs]].
        pose proof (step_order P C cnt _ _ _ (counted_split X l s r Hs)) as [Ho _]. simpl in Ho.
        destruct (Nat.eqb (g_job s) m); simpl; [|lia].
        destruct (Z.ltb_spec (g_st s) z); lia. }
      assert (H0 : 0 <= suml f l0).
      { apply suml_nonneg. intros s Hs. apply Hf. rewrite split0. apply in_or_app. left.
        assumption. }
      assert (H1 : 0 <= suml f rest).
      { apply suml_nonneg. intros s Hs. apply Hf. rewrite split0. apply in_or_app. right.
        apply in_or_app. right. assumption. }
      assert (H2 : suml (fun s => if Nat.eqb (g_job s) m then h s else 0) w <= suml f w); [|lia].
      apply suml_le. intros s Hs. unfold f. simpl. specialize (Hh s Hs). simpl in Hh.
      pose proof (w_in s Hs). destruct (Nat.eqb (g_job s) m); simpl; [|lia].
      destruct (Z.ltb_spec (g_st s) z); lia.
    Qed.

    Lemma w_steps : forall s, In s w -> In s steps.
    Proof. intros s Hs. rewrite split0. apply in_or_app. right. apply in_or_app. left. assumption.
    Qed.

    Definition cnt_of (i : nat) : Z := countn (fun m => sel m && is_req C i m) n.

    Lemma cnt_due : forall i, (i < length rs)%nat -> cnt_of i <= due_jobs (rq P i) (z - x).
    Proof. intros i Hi. apply (requests_due P C ok cnt z x i Hi x_z). Qed.

    (* Pages of a kind, of requests of that kind. *)
    Lemma pages_of_kind : forall f, (forall k, f k = true -> k <> KPass) ->
      number f w <= sumn (fun i => if f (if r_w (rq P i) =? 0 then KRead else KProg)
        then due_jobs (rq P i) (z - x) * r_C (rq P i) else 0) (length rs).
    Proof.
      intros f Hf. unfold number.
      rewrite (suml_by_key g_job _ w n) by (intros s Hs; apply step_kind; apply w_steps;
        assumption).
      set (key := fun m => match j_class (jb m) with Req i => i | _ => O end).
      set (p := fun m => sel m && f (kindj m)).
      apply (Z.le_trans _ (sumn (fun m => if p m then r_C (rq P (key m)) else 0) n)).
      - apply sumn_le. intros m Hm. destruct (p m) eqn:Ep.
        + unfold p in Ep. apply andb_true_iff in Ep. destruct Ep as [Es Ef].
          unfold job_kind in Ef. unfold key.
          destruct (j_class (jb m)) as [i|k|i|] eqn:Ec; try (destruct (Hf KPass Ef eq_refl)).
          destruct (request_cost P C ok cnt z m i Hm Ec) as [Hc _].
          apply (Z.le_trans _ (executed C z m)); [|assumption].
          apply (Z.le_trans _ (suml (fun s => if Nat.eqb (g_job s) m then ind (f (kinds s)) else
            0) w));
            [apply Z.le_refl|].
          apply of_job. intros s Hs. simpl. pose proof (w_in s Hs).
          pose proof (shape_in d P X rules s (w_steps s Hs)) as Hsh. unfold shape in Hsh.
          destruct (f (kinds s)) eqn:Efs; unfold ind.
          * destruct (kinds s) eqn:Ek; [lia|lia|destruct (Hf KPass Efs eq_refl)].
          * destruct (kinds s); lia.
        + assert (suml (fun s => if Nat.eqb (g_job s) m then ind (f (kinds s)) else 0) w
            <= suml (fun _ => 0) w);
            [|assert (suml (fun _ : rstep => 0) w = 0) by (apply suml_zero; reflexivity); lia].
          apply suml_le. intros s Hs. destruct (Nat.eqb_spec (g_job s) m) as [He|]; [|lia].
          destruct (step_kind s (w_steps s Hs)) as [_ Hk]. unfold p in Ep.
          rewrite <- He, (owned s Hs), <- Hk in Ep. simpl in Ep. rewrite Ep. unfold ind. lia.
      - rewrite (sumn_by_class n (length rs) key).
        2:{ intros m Hm Hp. unfold p in Hp. apply andb_true_iff in Hp. destruct Hp as [_ Hp].
            unfold job_kind in Hp. unfold key.
            destruct (j_class (jb m)) eqn:Ec; try (destruct (Hf KPass Hp eq_refl)).
            apply (sporadic P C cnt m i Hm Ec). }
        apply sumn_le. intros i Hi.
        assert (Hin : In (rq P i) rs) by (apply nth_In; assumption).
        pose proof (ok_requests P ok _ Hin) as Hok. unfold request_ok in Hok.
        pose proof (cnt_due i Hi) as Hd.
        destruct (f (if r_w (rq P i) =? 0 then KRead else KProg)) eqn:Ef.
        + apply (Z.le_trans _ (r_C (rq P i) * cnt_of i)); [|nia].
          unfold cnt_of. rewrite <- (Z.mul_1_r (r_C (rq P i))) at 1.
          apply (Z.le_trans _ (sumn (fun m => if sel m && is_req C i m then r_C (rq P i) else 0)
            n)).
          * apply sumn_le. intros m Hm. unfold p, key, is_req, job_kind.
            change (Trace.jb C m) with (jb m).
            destruct (sel m); simpl; [|lia].
            destruct (j_class (jb m)) as [i0|k|i0|].
            -- destruct (Nat.eqb_spec i0 i) as [->|]; [rewrite Ef; simpl; lia|rewrite andb_false_r;
                 lia].
            -- destruct (f KPass) eqn:E; [destruct (Hf KPass E eq_refl)|simpl; lia].
            -- destruct (f KPass) eqn:E; [destruct (Hf KPass E eq_refl)|simpl; lia].
            -- destruct (f KPass) eqn:E; [destruct (Hf KPass E eq_refl)|simpl; lia].
          * rewrite Z.mul_1_r. apply sumn_count_mul. intros. lia.
        + assert (H0 : sumn (fun m => if p m && Nat.eqb (key m) i then r_C (rq P (key m)) else 0)
            n = 0);
            [|lia].
          apply sumn_zero. intros m Hm. unfold p, key, job_kind.
          destruct (sel m); simpl; [|reflexivity].
          destruct (j_class (jb m)) as [i0|k|i0|].
          * destruct (Nat.eqb_spec i0 i) as [->|]; [rewrite Ef; reflexivity|rewrite andb_false_r;
              reflexivity].
          * destruct (f KPass) eqn:E; [destruct (Hf KPass E eq_refl)|reflexivity].
          * destruct (f KPass) eqn:E; [destruct (Hf KPass E eq_refl)|reflexivity].
          * destruct (f KPass) eqn:E; [destruct (Hf KPass E eq_refl)|reflexivity].
    Qed.

    Lemma read_pages : number isR w <= pages_read rs (z - x).
    Proof.
      unfold pages_read. rewrite (suml_nth _ (Request 0 1 1 0 0 0)).
      apply (Z.le_trans _ _ _ (pages_of_kind isR ltac:(intros [] H; discriminate))).
      apply sumn_le. intros i Hi. unfold reading. fold (rq P i).
      destruct (r_w (rq P i) =? 0); simpl; lia.
    Qed.

    Lemma written_pages : number isP w <= pages_written rs (z - x).
    Proof.
      unfold pages_written. rewrite (suml_nth _ (Request 0 1 1 0 0 0)).
      apply (Z.le_trans _ _ _ (pages_of_kind isP ltac:(intros [] H; discriminate))).
      apply sumn_le. intros i Hi. unfold reading. fold (rq P i).
      destruct (r_w (rq P i) =? 0); simpl; lia.
    Qed.

    Definition pass_part (s : rstep) : Z :=
      match kinds s with KPass => Z.min (g_en s) z - g_st s | _ => 0 end.

    Lemma pass_time : suml pass_part w <= due_passes rs g (z - x) * g_C g.
    Proof.
      rewrite (suml_by_key g_job _ w n) by (intros s Hs; apply step_kind; apply w_steps;
        assumption).
      pose proof (passes_due P C ok cnt z x x_z) as Hd.
      pose proof (ok_collection P ok) as Hg. unfold collection_ok in Hg.
      apply (Z.le_trans _ (g_C g * countn (fun m => sel m && is_gc C m) n)).
      - apply (Z.le_trans _ (sumn (fun m => if sel m && is_gc C m then g_C g else 0) n));
          [|apply sumn_count_mul; intros; lia].
        apply sumn_le. intros m Hm. destruct (sel m && is_gc C m) eqn:Ep.
        + apply andb_true_iff in Ep. destruct Ep as [_ Eg]. unfold is_gc in Eg.
          destruct (j_class (Trace.jb C m)) as [i|k|i|] eqn:Ec; try discriminate.
          destruct (pass_cost_bound P C ok cnt z m k Hm Ec picks) as [Hc _].
          apply (Z.le_trans _ (executed C z m)); [|assumption]. apply of_job. intros s Hs. simpl.
          unfold pass_part. pose proof (w_in s Hs). destruct (kinds s); lia.
        + assert (suml (fun s => if Nat.eqb (g_job s) m then pass_part s else 0) w
            <= suml (fun _ => 0) w);
            [|assert (suml (fun _ : rstep => 0) w = 0) by (apply suml_zero; reflexivity); lia].
          apply suml_le. intros s Hs. destruct (Nat.eqb_spec (g_job s) m) as [He|]; [|lia].
          destruct (step_kind s (w_steps s Hs)) as [_ Hk].
          rewrite <- He, (owned s Hs) in Ep. simpl in Ep. unfold pass_part.
          destruct (kinds s) eqn:Eks; try lia. exfalso.
          pose proof (x_real_time d P X rules _ ltac:(rewrite <- He in Hm; exact Hm)) as Hrt.
          unfold real_time in Hrt. rewrite Ep in Hrt. unfold job_kind in Hk.
          unfold is_request in Hrt. change (Trace.jb C (g_job s)) with (jb (g_job s)) in Hrt.
          destruct (j_class (jb (g_job s))) as [i|k|i|]; try discriminate.
          destruct (r_w (rq P i) =? 0); discriminate.
      - change (countn (fun m => sel m && is_gc C m) n <= due_passes rs g (z - x)) in Hd.
        rewrite (Z.mul_comm (due_passes _ _ _)). apply Z.mul_le_mono_nonneg_l; [lia|assumption].
    Qed.

    Lemma base_parts : base d z w = number isR w * t_r d + number isP w * Z.max (t_w d) b
      + suml pass_part w.
    Proof.
      unfold base, number. generalize w. induction w0 as [|s l IH]; [reflexivity|].
      rewrite !suml_cons, IH. unfold base_of, pass_part.
      destruct (kinds s); unfold isR, isP, ind; ring.
    Qed.

    (* J *)
    Lemma jobs_due : countn sel n <= jobs_J rs g (z - x).
    Proof.
      pose proof (passes_due P C ok cnt z x x_z) as Hd.
      change (countn (fun m => sel m && is_gc C m) n <= due_passes rs g (z - x)) in Hd.
      unfold jobs_J.
      set (key := fun m => match j_class (jb m) with Req i => i | _ => O end).
      assert (Hsum : countn sel n <= sumn (fun m => if sel m && is_request C m then 1 else 0) n
        + countn (fun m => sel m && is_gc C m) n).
      { unfold countn. rewrite <- sumn_add. apply sumn_le. intros m Hm.
        pose proof (x_real_time d P X rules m Hm) as Hr. unfold real_time in Hr.
        destruct (sel m); destruct (is_request C m); destruct (is_gc C m); unfold ind; simpl in *;
          try lia; discriminate. }
      rewrite (sumn_by_class n (length rs) key) in Hsum.
      2:{ intros m Hm Hp. apply andb_true_iff in Hp. destruct Hp as [_ Hp]. unfold is_request in Hp.
          unfold key. change (Trace.jb C m) with (jb m) in Hp.
          destruct (j_class (jb m)) eqn:Ec; try discriminate. apply (sporadic P C cnt m i Hm Ec). }
      assert (Hle : sumn (fun i => sumn (fun m => if sel m && is_request C m && Nat.eqb (key m) i
        then 1 else 0) n) (length rs) <= suml (fun r => due_jobs r (z - x)) rs); [|lia].
      rewrite (suml_nth _ (Request 0 1 1 0 0 0)). apply sumn_le. intros i Hi. fold (rq P i).
      pose proof (cnt_due i Hi) as Hc. unfold cnt_of, countn in Hc.
      apply (Z.le_trans _ (sumn (fun m => ind (sel m && is_req C i m)) n)); [|assumption].
      apply sumn_le. intros m Hm. unfold is_request, is_req, key.
      change (Trace.jb C m) with (jb m). destruct (sel m); simpl; [|lia].
      destruct (j_class (jb m)); simpl; try lia. destruct (Nat.eqb i0 i); unfold ind; lia.
    Qed.
  End Counting.

  (* The length of [x, z) is less than what (T2) counts, the waits being those of ch. *)
  Theorem late_is_covered : exists x l r ch dd,
    0 <= x < z /\ In dd (deadlines rs g) /\ dd <= z - x /\
    steps = l ++ r /\ NoDup (map fst ch) /\
    (forall c, In c ch -> In (fst c) l /\ kinds (fst c) <> KPass /\
       (snd c = false -> kinds (fst c) = KRead)) /\
    suml (fun c => ind (snd c)) ch <= waits_K rs g (z - x) /\
    suml (fun c => ind (negb (snd c))) ch <= pages_read rs (z - x) /\
    z - x < begun_before d rs + pages_read rs (z - x) * t_r d
      + pages_written rs (z - x) * Z.max (t_w d) b + due_passes rs g (z - x) * g_C g
      + suml (amount d x z) ch.
  Proof.
    destruct considered as [L [rest [y [HL [Hy [HLy [Hjy [Hby Hend]]]]]]]].
    destruct (late_window P C ok cnt z j j_in (x_real_time d P X rules j j_in) j_due_z)
      as [dd [Hdd [Hd1 Hd2]]].
    change (j_rel (Trace.jb C j)) with (j_rel (jb j)) in Hd1.
    destruct (last_false live y) as [x [Hx [Hx1 Hx2]]]; [lia| |].
    { destruct (live 0) eqn:E; [|reflexivity]. destruct (live_elim 0 E) as [k [Hk [H1 _]]].
      pose proof (released P C cnt k Hk) as H2. change (j_rel (Trace.jb C k)) with (j_rel (jb k))
        in H2.
      lia. }
    assert (Hxj : x <= j_rel (jb j)).
    { destruct (Z.le_gt_cases x (j_rel (jb j))) as [|Hgt]; [assumption|exfalso].
      rewrite (live_intro x j j_in) in Hx1; [discriminate|lia|lia|].
      destruct (begun_by x j) eqn:E; [exfalso|reflexivity].
      destruct (begun_by_elim x j E) as [q [Hq [Hqj [Hql Hqx]]]].
      assert (Hc : begun_by y j = true); [|congruence].
      rewrite <- Hqj. apply begun_by_intro; [assumption|assumption|lia]. }
    destruct (split_at x L [] rest) as [l0 [w [HLw [Hl0 Hw]]]]; [assumption|].
    assert (split0 : steps = l0 ++ w ++ rest) by (rewrite HL, HLw, <- app_assoc; reflexivity).
    assert (Hw_in : forall s, In s w -> x <= g_st s < z).
    { intros s Hs. split; [apply Hw; assumption|]. apply HLy. rewrite HLw. apply in_or_app. right.
      assumption. }
    (* Somebody waits, at t before y, with a step not begun in a prefix that has begun by t. *)
    assert (Hsome : forall w1 w2 t, w = w1 ++ w2 -> x <= t < y -> (forall q,
      In q w1 -> g_st q <= t) ->
      exists k, waiting X (l0 ++ w1) t k /\ j_due (jb k) <= z).
    { intros w1 w2 t H Ht Hb. destruct (live_elim (t + 1) (Hx2 (t + 1) ltac:(lia))) as [k [Hk [H1
        [H2 H3]]]].
      exists k. split; [|assumption]. split; [assumption|]. split; [lia|].
      apply (not_begun (l0 ++ w1) (w2 ++ rest) (t + 1)); [|intros q Hq|assumption].
      - rewrite split0, H, <- !app_assoc. reflexivity.
      - apply in_app_or in Hq. destruct Hq as [Hq|Hq]; [specialize (Hl0 q Hq)|specialize (Hb q
          Hq)]; lia. }
    assert (Howned : forall s, In s w -> sel X x z (g_job s) = true).
    { intros s Hs. pose proof (Hw_in s Hs) as Hsx. pose proof Hs as Hs0. apply in_split in Hs.
      destruct Hs as [w1 [w2 Hs]].
      assert (Hsp : steps = (l0 ++ w1) ++ s :: w2 ++ rest) by (rewrite split0, Hs, <- !app_assoc;
        reflexivity).
      pose proof (X3_first d P X rules _ _ _ Hsp) as [Hws Hfs].
      destruct (in_order d P X rules _ _ _ Hsp) as [_ [_ Ho]].
      assert (Hk : exists k, waiting X (l0 ++ w1) (g_st s) k /\ j_due (jb k) <= z).
      { destruct (Z.lt_ge_cases (g_st s) y) as [Hlt|Hge].
        - apply (Hsome w1 (s :: w2)); [assumption|lia|].
          intros q Hq. apply Ho. apply in_or_app. right. assumption.
        - exists j. split; [|lia].
          destruct Hend as [[-> _]|[L0 [sj [HL0 [Hsj [Hsy [Hsl Hse]]]]]]]; [lia|].
          split; [assumption|]. split; [lia|].
          destruct (begun (l0 ++ w1) j) eqn:Eb; [exfalso|reflexivity].
          apply begun_step in Eb. destruct Eb as [q [Hq1 [Hq2 Hq3]]].
          assert (Hin : In sj (s :: w2)).
          { assert (Heq : (l0 ++ w1) ++ s :: w2 = L0 ++ [sj])
              by (rewrite <- HL0, HLw, Hs, <- !app_assoc; reflexivity).
            destruct (exists_last (l := s :: w2)) as [c [a Ha]]; [discriminate|].
            rewrite Ha, app_assoc in Heq. apply app_inj_tail in Heq. destruct Heq as [_ ->].
            rewrite Ha. apply in_or_app. right. left. reflexivity. }
          apply in_split in Hin. destruct Hin as [c [e Hin]].
          assert (Hsp2 : steps = ((l0 ++ w1) ++ c) ++ sj :: e ++ rest).
          { rewrite Hsp. change (s :: w2 ++ rest) with ((s :: w2) ++ rest).
            rewrite Hin, <- !app_assoc.
            reflexivity. }
          destruct (X3_first d P X rules _ _ _ Hsp2) as [[_ [_ Hb2]] _].
          assert (begun ((l0 ++ w1) ++ c) (g_job sj) = true); [|congruence].
          apply begun_step. exists q. split; [apply in_or_app; left; assumption|].
          split; congruence. }
      destruct Hk as [k [Hk1 Hk2]].
      assert (Hdue : j_due (jb (g_job s)) <= z).
      { destruct (Hfs k Hk1) as [->|Hb]; [assumption|]. unfold before in Hb. lia. }
      unfold sel. destruct (Z.leb_spec (j_due (jb (g_job s))) z); [|lia].
      destruct (Z.leb_spec x (j_rel (jb (g_job s)))) as [|Hlt]; [reflexivity|exfalso].
      destruct Hws as [Hws1 [Hws2 Hws3]].
      rewrite (live_intro x (g_job s) Hws1 ltac:(lia) Hdue) in Hx1; [discriminate|].
      destruct (begun_by x (g_job s)) eqn:E; [exfalso|reflexivity].
      destruct (begun_by_elim _ _ E) as [q [Hq [Hqj [Hql Hqx]]]].
      assert (Hqin : In q (l0 ++ w1)).
      { rewrite Hsp in Hq. apply in_app_or in Hq. destruct Hq as [Hq|[<-|Hq]]; [assumption|lia|].
        pose proof (later d P X rules _ _ _ q Hsp Hq). lia. }
      assert (begun (l0 ++ w1) (g_job s) = true); [|congruence]. apply begun_step. exists q. auto. }
    assert (Hstarted : forall k, (k < n)%nat -> j_rel (jb k) < x -> j_due (jb k) <= z -> begun l0
      k = true).
    { intros k Hk H1 H2. destruct (begun_by x k) eqn:E.
      - destruct (begun_by_elim _ _ E) as [q [Hq [Hqj [Hql Hqx]]]]. apply begun_step. exists q.
        split; [|auto]. rewrite split0 in Hq. apply in_app_or in Hq.
        destruct Hq as [Hq|Hq]; [assumption|].
        exfalso. apply in_app_or in Hq. destruct Hq as [Hq|Hq]; [specialize (Hw_in q Hq); lia|].
        destruct Hend as [[_ [Hr _]]|[L0 [sj [HL0 [Hsj [Hsy _]]]]]]; [specialize (Hr q Hq); lia|].
        assert (Hsp : steps = L0 ++ sj :: rest) by (rewrite HL, HL0, <- app_assoc; reflexivity).
        pose proof (later d P X rules _ _ _ q Hsp Hq). lia.
      - rewrite (live_intro x k Hk H1 H2 E) in Hx1. discriminate. }
    unfold device_ok in dev.
    set (B0 := Z.max (if reads_any rs then Z.max (t_r d) b else 0)
      (if writes rs then Z.max (Z.max (t_e d) (t_r d + t_w d)) (Z.max (t_w d) b + t_w d) else 0)).
    assert (Hl0s : forall s, In s l0 -> In s steps)
      by (intros s Hs; rewrite split0; apply in_or_app; left; assumption).
    assert (HB : 1 <= B0).
    { destruct (kind_known j j_in) as [H1 H2]. unfold B0.
      destruct (kindj j) eqn:Ek.
      - rewrite (H1 eq_refl). destruct (writes rs); lia.
      - rewrite (H2 ltac:(discriminate)). destruct (reads_any rs); lia.
      - rewrite (H2 ltac:(discriminate)). destruct (reads_any rs); lia. }
    destruct (covered_to_z d P X rules x z l0 w rest dev split0 ltac:(lia) z_end Hl0 Hw_in Howned
      Hstarted)
      with (mixed := writes rs) (B0 := B0) as [ch [tail Hcov]].
    - intros w1 s w2 t H Ht Hb.
      assert (Hs : In s w) by (rewrite H; apply in_or_app; right; left; reflexivity).
      assert (Hsy : g_st s <= y) by (apply HLy; rewrite HLw; apply in_or_app; right; assumption).
      apply (Hsome w1 (s :: w2) t H); [lia|assumption].
    - intros m Hm Hk. apply (kind_known m Hm). assumption.
    - assumption.
    - intros s Hs Hk. destruct (step_kind s (Hl0s s Hs)) as [Hm Hkm]. rewrite Hk in Hkm.
      destruct (kind_known _ Hm) as [H1 _]. unfold B0. rewrite (H1 ltac:(congruence)). lia.
    - intros s Hs Hk. destruct (step_kind s (Hl0s s Hs)) as [Hm Hkm]. rewrite Hk in Hkm.
      destruct (kind_known _ Hm) as [_ H1]. unfold B0. rewrite H1 by congruence. lia.
    - intros s Hs Hk. pose proof (pass_step s (Hl0s s Hs) Hk).
      destruct (step_kind s (Hl0s s Hs)) as [Hm Hkm]. rewrite Hk in Hkm.
      destruct (kind_known _ Hm) as [_ H1]. unfold B0. rewrite H1 by congruence. lia.
    - destruct Hend as [[Hyz [Hr Hbj]]|[L0 [sj [HL0 [Hsj [Hsy [Hsl Hse]]]]]]].
      + left. split; [|assumption]. intros t Ht Hb. subst y.
        apply (Hsome w [] t); [rewrite app_nil_r; reflexivity|assumption|assumption].
      + right.
        assert (Hin : In sj w).
        { assert (Hi : In sj L) by (rewrite HL0; apply in_or_app; right; left; reflexivity).
          rewrite HLw in Hi. apply in_app_or in Hi. destruct Hi as [Hi|Hi]; [|assumption].
          specialize (Hl0 sj Hi). lia. }
        destruct (exists_last_or_nil w) as [->|[w0 [a Ha]]]; [contradiction|].
        exists w0, a. split; [assumption|].
        assert (a = sj).
        { rewrite HL0, Ha, app_assoc in HLw. apply app_inj_tail in HLw. symmetry. apply HLw. }
        subst a. auto.
    - destruct Hcov as [C1 [C2 [C3 [C4 [C5 [C6 [C7 [C8 [C9 C10]]]]]]]]].
      pose proof (read_pages x l0 w rest split0 ltac:(lia) Hw_in Howned) as Q1.
      pose proof (written_pages x l0 w rest split0 ltac:(lia) Hw_in Howned) as Q2.
      pose proof (pass_time x l0 w rest split0 ltac:(lia) Hw_in Howned) as Q3.
      pose proof (jobs_due x ltac:(lia)) as Q4.
      pose proof (base_parts w) as Q5.
      assert (Hfull : suml (fun c => ind (snd c)) ch = suml fill ch + suml drain ch).
      { clear - C2. revert C2. induction ch as [|c ch IH]; intros C2; [reflexivity|].
        rewrite !suml_cons, IH by (intros c' Hc'; apply C2; right; assumption).
        destruct (C2 c ltac:(left; reflexivity)) as [_ [Hk _]].
        assert (Hc : ind (snd c) = fill c + drain c); [|lia]. unfold fill, drain.
        destruct (kinds (fst c)); [| |congruence]; destruct (snd c); reflexivity. }
      assert (Hdr0 : reads_any rs = false -> suml drain ch <= 0).
      { intros Hno.
        assert (Hin : forall c, In c ch -> In (fst c) steps).
        { intros c Hc. destruct (C2 c Hc) as [Hi _]. rewrite split0, app_assoc. apply in_or_app.
          left.
          assumption. }
        assert (Hz : suml drain ch = 0); [|lia]. apply suml_zero. intros c Hc. unfold drain.
        destruct (step_kind _ (Hin c Hc)) as [Hm Hk]. destruct (kind_known _ Hm) as [H1 _].
        destruct (kinds (fst c)) eqn:E; simpl; rewrite ?andb_false_r; try reflexivity.
        rewrite (H1 ltac:(congruence)) in Hno. discriminate. }
      assert (Hw0 : writes rs = false -> pages_written rs (z - x) = 0).
      { intros Hno. unfold pages_written. apply suml_zero. intros r Hr.
        unfold reading. rewrite (no_writer rs (ok_requests P ok) Hno r Hr). reflexivity. }
      exists x, (l0 ++ w), rest, ch, dd.
      split; [lia|]. split; [assumption|]. split; [lia|].
      split; [rewrite split0, app_assoc; reflexivity|]. split; [assumption|]. split; [assumption|].
      split.
      { rewrite Hfull. unfold waits_K. cbv zeta. fold n in C3, C5. destruct (writes rs) eqn:Ew.
        - destruct (reads_any rs) eqn:Er; [lia|]. specialize (Hdr0 eq_refl). lia.
        - specialize (Hw0 eq_refl).
          destruct (Z.lt_ge_cases 0 (suml drain ch)) as [Hc|Hc]; [specialize (C8 Hc);
            discriminate|lia]. }
      split; [change (suml hold ch <= pages_read rs (z - x)); lia|].
      pose proof (bus_nonneg d dev) as Hb0.
      assert (Hbb : B0 + tail <= begun_before d rs).
      { unfold begun_before, B0. destruct (kind_known j j_in) as [H1 H2].
        destruct C10 as [->|[-> Hnw]].
        - destruct (reads_any rs); destruct (writes rs); lia.
        - rewrite Hnw. destruct (kindj j) eqn:Ek.
          + rewrite (H1 eq_refl). lia.
          + rewrite (H2 ltac:(discriminate)) in Hnw. discriminate.
          + rewrite (H2 ltac:(discriminate)) in Hnw. discriminate. }
      rewrite Q5 in C9.
      assert (number isR w * t_r d <= pages_read rs (z - x) * t_r d)
        by (apply Z.mul_le_mono_nonneg_r; lia).
      assert (number isP w * Z.max (t_w d) b <= pages_written rs (z - x) * Z.max (t_w d) b)
        by (apply Z.mul_le_mono_nonneg_r; lia).
      lia.
  Qed.
End Late.

(* What the charged waits come to where nothing is known of the neighbours: b each. *)
Lemma waits_alone : forall d P X, obeys_registers d P X -> 0 <= bus d -> forall x z ch,
  (forall c, In c ch -> In (fst c) (v_steps X) /\ kind_of (g_act (fst c)) <> KPass) ->
  suml (amount d x z) ch <= bus d * suml (fun c => ind (snd c)) ch
    + Z.max 0 (bus d - t_r d) * suml (fun c => ind (negb (snd c))) ch.
Proof.
  intros d P X rules Hb x z ch H. induction ch as [|c ch IH]; [simpl; lia|].
  rewrite !suml_cons. specialize (IH ltac:(intros c' Hc'; apply H; right; assumption)).
  destruct (H c ltac:(left; reflexivity)) as [Hin Hk].
  pose proof (x_bus d P X rules _ Hin Hk) as Hm.
  assert (Hp : 0 <= part x z (fst c) <= bus d) by (unfold part; lia).
  unfold amount at 1. destruct (snd c); unfold ind at 1 3; simpl negb; cbv iota; lia.
Qed.

(* The schedule: lemma 4 of a chip with two registers, where nothing is known of the neighbours. *)
Theorem lemma_4_registers : forall d P X, device_ok d -> parameters_ok P -> cached d P ->
  obeys_registers d P X -> T2_alone d (p_rs P) (p_g P) ->
  forall z, z <= v_end X ->
  picks_up_to P (counted_trace X) (z - 1) ->       (* no pass begun before z costs more than C_g *)
  forall m, (m < length (v_jobs X))%nat -> j_due (vjb X m) = z -> over X m z = true.
Proof.
  intros d P X dev ok chip rules HT z Hz Hp m Hm Hd.
  destruct (over X m z) eqn:Eo; [reflexivity|exfalso].
  destruct (late_is_covered d P X dev ok chip rules z m Hm Hd Eo Hz Hp)
    as [x [l [r [ch [dd [Hx [Hdd [HL [Hs [_ [Hin [Hfull [Hhold Hlt]]]]]]]]]]]]].
  pose proof (HT (z - x) ltac:(exists dd; split; [assumption|lia])) as Hf.
  unfold fits_alone, cost_r, cost_w in Hf.
  pose proof (bus_nonneg d dev) as Hb.
  pose proof (waits_alone d P X rules Hb x z ch) as Hw.
  specialize (Hw ltac:(intros c Hc; destruct (Hin c Hc) as [H1 [H2 _]]; split;
    [rewrite Hs; apply in_or_app; left; assumption|assumption])).
  set (K := waits_K (p_rs P) (p_g P) (z - x)) in *.
  set (nr := pages_read (p_rs P) (z - x)) in *.
  assert (bus d * suml (fun c => ind (snd c)) ch <= bus d * K)
    by (apply Z.mul_le_mono_nonneg_l; assumption).
  assert (Z.max 0 (bus d - t_r d) * suml (fun c => ind (negb (snd c))) ch
    <= Z.max 0 (bus d - t_r d) * nr) by (apply Z.mul_le_mono_nonneg_l; lia).
  assert (nr * Z.max (t_r d) (bus d) = nr * t_r d + Z.max 0 (bus d - t_r d) * nr) by nia.
  lia.
Qed.

(* What the theorems promise: no deadline is missed; no victim is too dear; f >= b >= 0 at the end
   of every instant, a page counting from its commit; every page that is committed or copied finds
   its place. *)
Definition registers_promises (P : processor) (X : rtrace) : Prop :=
  (forall m, (m < length (v_jobs X))%nat -> j_due (vjb X m) <= v_end X ->
     over X m (j_due (vjb X m)) = true) /\
  (forall l s r val, v_steps X = l ++ s :: r -> g_act s = APick val -> g_st s <= v_end X ->
     val <= p_v P) /\
  (forall t, t <= v_end X ->
     0 <= pending P (counted_trace X) t <= free_pages P (counted_trace X) t) /\
  (forall l s r, v_steps X = l ++ s :: r -> g_st s <= v_end X ->
     kind_of (g_act s) = KProg \/ (exists k, g_act s = ACopy k) ->
     drawn (counted_step s) <= z_f (run P (counted_trace X) (map counted_step l))).

Section Circle.
  Variable d : device.
  Variable P : processor.
  Variable X : rtrace.
  Hypothesis dev : device_ok d.
  Hypothesis ok : parameters_ok P.
  Hypothesis chip : cached d P.
  Hypothesis rules : obeys_registers d P X.

  Let n := length (v_jobs X).
  Notation C := (counted_trace X).
  Notation jb := (vjb X).
  Let cnt : counted P C := x_counted d P X rules.

  Definition over_up_to (t : Z) : Prop :=
    forall m, (m < n)%nat -> j_due (jb m) <= t -> over X m (j_due (jb m)) = true.

  Lemma due_positive : forall m, (m < n)%nat -> 1 <= j_due (jb m).
  Proof.
    intros m Hm. destruct (late_window P C ok cnt (j_due (jb m)) m Hm
      (x_real_time d P X rules m Hm) eq_refl) as [dd [_ [H1 H2]]].
    pose proof (released P C cnt m Hm). lia.
  Qed.

  (* What is over is over for the counters. *)
  Lemma over_counted : forall m t, over X m t = true -> finished (x_steps C) m t = true.
  Proof.
    intros m t H. apply existsb_exists in H. destruct H as [s [Hs H]].
    apply andb_true_iff in H. destruct H as [H H3]. apply andb_true_iff in H. destruct H as [H1 H2].
    apply Nat.eqb_eq in H1. apply Z.leb_le in H3.
    apply (finished_intro _ m t (counted_step s)); simpl; auto; [apply in_map; assumption|].
    pose proof (shape_in d P X rules s Hs) as Hsh. unfold shape in Hsh.
    destruct (kind_of (g_act s)); lia.
  Qed.

  Lemma over_in_time : forall t, over_up_to t -> in_time_up_to C t.
  Proof.
    intros t H m Hm _ Hd. apply over_counted. apply (H m Hm Hd).
  Qed.

  Lemma picks_next : forall t, picks_up_to P C (t - 1) -> over_up_to t -> picks_up_to P C t.
  Proof.
    intros t H Ho l s r val Hs Ha Ht.
    destruct (Z.le_gt_cases (s_st s) (t - 1)) as [Hle|Hgt]; [apply (H l s r val Hs Ha Hle)|].
    apply (victims_are_cheap P C ok cnt l s r val Hs Ha).
    apply requests_of_in_time. intros m Hm Hr Hd. apply (over_in_time t Ho m Hm Hr). lia.
  Qed.

  (* Lemmas 2 and 3, given deadlines. *)
  Lemma promises_of_deadlines :
    (forall t, t <= v_end X -> over_up_to t /\ picks_up_to P C t) -> registers_promises P X.
  Proof.
    intros Hall. split; [|split; [|split]].
    - intros m Hm Hd. apply (proj1 (Hall _ Hd) m Hm). apply Z.le_refl.
    - intros l s r val Hs Ha Ht.
      apply (proj2 (Hall _ Ht) _ (counted_step s) _ val (counted_split X l s r Hs) Ha).
      apply Z.le_refl.
    - intros t Ht. destruct (Hall t Ht) as [H1 H2].
      destruct (lemma_2 P C ok cnt t Ht (gc_of_in_time C t (over_in_time t H1)) H2). lia.
    - intros l s r Hs Ht Hk. destruct (Hall _ Ht) as [H1 H2].
      destruct (pages_suffice P C ok cnt _ _ _ (counted_split X l s r Hs) Ht
        (gc_of_in_time C _ (over_in_time _ H1)) H2) as [|He]; [assumption|exfalso]. simpl in He.
      destruct Hk as [Hk|[k Hk]]; [rewrite Hk in He; lia|].
      pose proof (prefix_rule P C cnt _ _ _ (counted_split X l s r Hs)) as Hr.
      unfold step_rule in Hr.
      destruct Hr as [Hm [_ [_ [_ [_ [_ [_ Hr]]]]]]]. simpl in Hr. rewrite Hk in *. simpl in *.
      pose proof (x_real_time d P X rules _ Hm) as Hrt. unfold real_time, is_request, is_gc in Hrt.
      destruct (j_class (Trace.jb C (g_job s))); try discriminate; [|lia].
      destruct Hr as [_ [[Hr|[q [Hr _]]] _]]; discriminate.
  Qed.

  (* There is no first bad instant. *)
  Lemma no_bad_instant_registers : T2_alone d (p_rs P) (p_g P) -> forall k : nat,
    Z.of_nat k - 1 <= v_end X ->
    over_up_to (Z.of_nat k - 1) /\ picks_up_to P C (Z.of_nat k - 1).
  Proof.
    intros HT. induction k as [|k IH]; intros Hk.
    - split.
      + intros m Hm Hd. pose proof (due_positive m Hm). simpl in Hd. lia.
      + intros l s r val Hs _ Hst. pose proof (step_order P C cnt l s r Hs) as [Ho _].
        simpl in Hst. lia.
    - destruct IH as [IH1 IH2]; [lia|].
      replace (Z.of_nat (S k) - 1) with (Z.of_nat k) in * by lia.
      assert (Ho : over_up_to (Z.of_nat k)).
      { intros m Hm Hd.
        destruct (Z.le_gt_cases (j_due (jb m)) (Z.of_nat k - 1)) as [Hle|Hgt]; [apply IH1;
          assumption|].
        apply (lemma_4_registers d P X dev ok chip rules HT (j_due (jb m)));
          [lia| |assumption|reflexivity].
        replace (j_due (jb m) - 1) with (Z.of_nat k - 1) by lia. assumption. }
      split; [assumption|]. apply picks_next; assumption.
  Qed.

  (* The circle is closed. *)
  Theorem closing_registers : T2_alone d (p_rs P) (p_g P) -> registers_promises P X.
  Proof.
    intros HT. apply promises_of_deadlines. intros t Ht.
    destruct (Z.le_gt_cases 0 t) as [H0|H0].
    - replace t with (Z.of_nat (Z.to_nat (t + 1)) - 1) by lia.
      apply no_bad_instant_registers; [assumption|lia].
    - split.
      + intros m Hm Hd. pose proof (due_positive m Hm). lia.
      + intros l s r val Hs _ Hst. pose proof (step_order P C cnt l s r Hs) as [Ho _]. lia.
  Qed.
End Circle.

(* Theorem 5, a chip by itself: where nothing is known of the neighbours. *)
Theorem theorem_5_alone : forall d rs e N Pages Lam X,
  device_ok d -> (forall w, In w rs -> demanded_ok w) -> stated_ok e -> 1 <= Pages ->
  let P := cached_stripe d rs e N Pages Lam in
  certificate_ok P ->                       (* (C1) to (C4) *)
  T2_alone d (p_rs P) (p_g P) ->            (* (T2) *)
  obeys_registers d P X -> registers_promises P X.
Proof.
  intros d rs e N Pages Lam X Hd Hrs He HP P Hc HT rules.
  destruct (cached_stripe_ok d rs e N Pages Lam Hd Hrs He HP Hc) as [ok chip].
  apply (closing_registers d P X Hd ok chip rules HT).
Qed.
