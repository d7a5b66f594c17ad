(* What jobs cost: no request takes more than C, no pass more than C_g (22), (27), and one that is
   not over has taken less. *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Demand Victims Sporadic Trace Reserve.
Import ListNotations.
Open Scope Z_scope.

Section Costs.
  Variable P : processor.
  Variable X : trace.
  Hypothesis ok : parameters_ok P.
  Hypothesis rules : counted P X.

  Let n := length (x_jobs X).
  Let alpha := g_alpha (p_g P).
  Let Cg := g_C (p_g P).
  Notation jb := (jb X).
  Notation rq := (rq P).
  Notation arrived := (arrived X).
  Notation run := (run P X).
  Notation steps := (x_steps X).

  (* Time that job m gets from steps begun before z, up to z. *)
  Definition executed (z : Z) (m : nat) : Z :=
    suml (fun s => if Nat.eqb (s_job s) m && (s_st s <? z) then Z.min (s_en s) z - s_st s else 0)
      steps.

  Lemma executed_prefix : forall z m, exists l r, steps = l ++ r /\
    (forall s, In s l -> s_st s < z) /\
    executed z m =
      suml (fun s => if Nat.eqb (s_job s) m then Z.min (s_en s) z - s_st s else 0) l.
  Proof.
    intros z m. destruct (split_steps P X rules (z - 1)) as [l [r [[H1 [H2 _]] H3]]].
    exists l, r. split; [assumption|].
    assert (Hl : forall s, In s l -> s_st s < z) by (intros s Hs; specialize (H2 s Hs); lia).
    split; [assumption|]. unfold executed. rewrite H1, suml_app.
    rewrite (suml_zero _ r).
    - rewrite Z.add_0_r. apply suml_ext. intros s Hs. specialize (Hl s Hs).
      destruct (Z.ltb_spec (s_st s) z); [|lia]. rewrite andb_true_r. reflexivity.
    - intros s Hs. specialize (H3 s Hs). destruct (Z.ltb_spec (s_st s) z); [lia|].
      rewrite andb_false_r. reflexivity.
  Qed.

  (* A step ends a job once; while it is under way the job is not finished. *)
  Lemma not_finished_under_way : forall s t, In s steps -> t < s_en s ->
    finished steps (s_job s) t = false.
  Proof.
    intros s t Hs Ht. apply in_split in Hs. destruct Hs as [l [r Hs]].
    pose proof (step_order P X rules l s r Hs) as [Ho1 [Ho2 Ho3]].
    pose proof (prefix_rule P X rules l s r Hs) as Hr. unfold step_rule in Hr.
    destruct Hr as [_ [_ [_ [_ [_ [Hf _]]]]]].
    destruct (finished steps (s_job s) t) eqn:E; [exfalso|reflexivity].
    destruct (finished_step _ _ _ E) as [y [Hy [Hy1 [Hy2 Hy3]]]].
    rewrite Hs in Hy. apply in_app_or in Hy. destruct Hy as [Hy|[<-|Hy]].
    - specialize (Ho2 y Hy). rewrite (finished_intro l _ _ y Hy Hy1 Hy2 Ho2) in Hf. discriminate.
    - lia.
    - specialize (Ho3 y Hy).
      assert (Hin : In y steps) by (rewrite Hs; apply in_or_app; right; right; assumption).
      destruct (step_of_list P X rules y Hin) as [l1 [r1 [_ Hry]]]. unfold step_rule in Hry. lia.
  Qed.

  Lemma finished_more : forall l r m t u, finished l m t = true -> t <= u ->
    finished (l ++ r) m u = true.
  Proof.
    intros l r m t u H Htu. destruct (finished_step _ _ _ H) as [s [H1 [H2 [H3 H4]]]].
    apply (finished_intro _ _ _ s); auto; [apply in_or_app; left; assumption|lia].
  Qed.

  (* Requests: as many steps as they have, so C at most, and less while they are not over. *)
  Lemma parts_of_request : forall l r m i, steps = l ++ r -> (m < n)%nat ->
    j_class (jb m) = Req i ->
    parts l m <= j_parts (jb m) /\
    (parts l m = j_parts (jb m) -> exists s, In s l /\ s_job s = m /\ s_last s = true) /\
    (forall s, In s l -> s_job s = m -> s_en s - s_st s <= r_q (rq i)).
  Proof.
    induction l as [|s l IH] using rev_ind; intros r m i Hs Hm Hc.
    - pose proof (sporadic P X rules m i Hm Hc). unfold parts; simpl.
      split; [lia|]. split; [lia|]. intros s [].
    - assert (Hs' : steps = l ++ s :: r) by (rewrite Hs, <- app_assoc; reflexivity).
      destruct (IH (s :: r) m i Hs' Hm Hc) as [H1 [H2 H3]].
      pose proof (prefix_rule P X rules l s r Hs') as Hr. unfold step_rule in Hr.
      destruct Hr as [_ [_ [_ [_ [_ [_ [_ Hr]]]]]]].
      unfold parts in *. rewrite suml_app. simpl.
      destruct (Nat.eqb_spec (s_job s) m) as [Heq|Hne].
      + change (ind true) with 1. rewrite Heq, Hc in Hr. destruct Hr as [Hlen [_ [Hp1 [Hp2 _]]]].
        split; [lia|]. split.
        * intros He. exists s. split; [apply in_or_app; right; left; reflexivity|].
          split; [assumption|apply Hp2; lia].
        * intros x Hx Hxm. apply in_app_or in Hx. destruct Hx as [Hx|[<-|[]]]; [auto|lia].
      + change (ind false) with 0. split; [lia|]. split.
        * intros He. destruct H2 as [x [Hx [Hx1 Hx2]]]; [lia|]. exists x.
          split; [apply in_or_app; left; assumption|auto].
        * intros x Hx Hxm. apply in_app_or in Hx. destruct Hx as [Hx|[<-|[]]]; [auto|congruence].
  Qed.

  Lemma request_cost : forall z m i, (m < n)%nat -> j_class (jb m) = Req i ->
    executed z m <= r_C (rq i) /\ (finished steps m z = false -> executed z m < r_C (rq i)).
  Proof.
    intros z m i Hm Hc. destruct (executed_prefix z m) as [l [r [Hs [Hl ->]]]].
    destruct (parts_of_request l r m i Hs Hm Hc) as [H1 [H2 H3]].
    pose proof (sporadic P X rules m i Hm Hc) as [Hi Hsp].
    assert (Hin : In (rq i) (p_rs P)) by (apply nth_In; assumption).
    pose proof (ok_requests P ok _ Hin) as Hok. unfold request_ok in Hok.
    set (q := r_q (rq i)) in *.
    set (body := fun s => if Nat.eqb (s_job s) m then Z.min (s_en s) z - s_st s else 0).
    set (top := fun s => q * ind (Nat.eqb (s_job s) m)).
    assert (Htop : suml top l = q * parts l m).
    { clear. unfold parts, top. induction l; simpl; [lia|]. rewrite IHl. lia. }
    assert (Hle : forall s, In s l -> body s <= top s).
    { intros s Hx. unfold body, top, ind. destruct (Nat.eqb_spec (s_job s) m); [|lia].
      specialize (H3 s Hx ltac:(assumption)). lia. }
    assert (Hsum : suml body l <= q * parts l m) by (rewrite <- Htop; apply suml_le; assumption).
    split; [nia|]. intros Hf.
    destruct (Z.eq_dec (parts l m) (j_parts (jb m))) as [He|Hne].
    - destruct (H2 He) as [s [Hx [Hx1 Hx2]]].
      assert (z < s_en s).
      { destruct (Z.le_gt_cases (s_en s) z) as [Hle2|]; [exfalso|assumption].
        assert (Hin2 : In s steps) by (rewrite Hs; apply in_or_app; left; assumption).
        rewrite (finished_intro steps m z s Hin2 Hx1 Hx2 Hle2) in Hf. discriminate. }
      assert (suml body l < suml top l).
      { apply (suml_lt _ _ l s); auto. unfold body, top, ind. rewrite Hx1, Nat.eqb_refl.
        specialize (H3 s Hx Hx1). specialize (Hl s Hx). lia. }
      nia.
    - nia.
  Qed.

  (* Passes: what a GC job has cost so far. *)
  Definition pass_cost (l : list step) (m : nat) : Z :=
    suml (fun s => if Nat.eqb (s_job s) m then pass_step_time P (s_act s) else 0) l.

  Definition pass_so_far (q : pass) : Z := reads_cost P (ps_r q) (ps_p q) + ps_w q * p_gw P.

  Definition pass_within (q : pass) : Prop :=
    0 <= ps_r q <= Z.min (ps_v q) (p_P P) /\ ps_r q <= ps_p q <= ps_v q /\
    0 <= ps_w q <= cdiv (ps_v q) (p_s P) /\
    0 <= ps_v q <= p_v P.

  Lemma pass_so_far_0 : forall v, pass_so_far (Pass v 0 0 0 0) = 0.
  Proof. reflexivity. Qed.

  Lemma pass_within_cost : forall q, pass_within q -> pass_so_far q + p_e P <= Cg.
  Proof.
    intros q [H1 [H2 H3]]. unfold pass_so_far.
    pose proof (ok_pass P ok) as Hp. fold Cg in Hp.
    pose proof (ok_sizes P ok). pose proof (ok_times P ok).
    set (n0 := Z.min (p_v P) (p_P P)) in *.
    assert (reads_cost P (ps_r q) (ps_p q) <= reads_cost P n0 (p_v P)).
    { unfold reads_cost.
      assert (ps_r q * p_gr P <= n0 * p_gr P) by (apply Z.mul_le_mono_nonneg_r; lia).
      (* No more with n0 reads, as one of a page takes no less than a page more. *)
      assert ((n0 - ps_r q) * p_gt P <= (n0 - ps_r q) * p_gr1 P)
        by (apply Z.mul_le_mono_nonneg_l; lia).
      assert ((ps_p q - ps_r q) * p_gt P <= (p_v P - ps_r q) * p_gt P)
        by (apply Z.mul_le_mono_nonneg_r; lia).
      lia. }
    assert (cdiv (ps_v q) (p_s P) <= cdiv (p_v P) (p_s P)) by (apply cdiv_mono; lia).
    assert (ps_w q * p_gw P <= cdiv (p_v P) (p_s P) * p_gw P)
      by (apply Z.mul_le_mono_nonneg_r; lia).
    lia.
  Qed.

  Lemma pass_within_begins : forall p a, R4_pass_step P p a -> a <> AErase ->
    match p with Some q => pass_within q | None => True end ->
    exists q q', p = Some q /\ pass_begins a p = Some q' /\ pass_within q' /\
      pass_so_far q + pass_step_time P a <= pass_so_far q'.
  Proof.
    intros p a HR Ha Hw. destruct p as [q|]; [|contradiction].
    unfold pass_within, pass_so_far in *.
    destruct a; simpl in *; try contradiction.
    - exists q, (Pass (ps_v q) (ps_r q + 1) (ps_p q + n0) (ps_w q) (ps_c q)). simpl.
      split; [reflexivity|]. split; [reflexivity|]. split; [lia|]. unfold reads_cost. lia.
    - exists q, (Pass (ps_v q) (ps_r q) (ps_p q) (ps_w q + 1) (ps_c q + n0)). simpl.
      split; [reflexivity|]. split; [reflexivity|]. split; lia.
  Qed.

  Lemma pass_cost_snoc : forall l s m, pass_cost (l ++ [s]) m =
    pass_cost l m + if Nat.eqb (s_job s) m then pass_step_time P (s_act s) else 0.
  Proof. intros. unfold pass_cost. rewrite suml_app. simpl. lia. Qed.

  Lemma gc_cost_so_far : forall l r m k, steps = l ++ r -> (m < n)%nat ->
    j_class (jb m) = Gc k -> (forall s, In s l -> pick_ok P s) ->
    let z := run l in
    (match z_pass z with Some q => pass_within q | None => True end) /\
    (forall s, In s l -> s_job s = m -> s_en s - s_st s <= pass_step_time P (s_act s)) /\
    (z_K z < k - 1 -> pass_cost l m = 0) /\
    (z_K z = k - 1 -> pass_cost l m <= match z_pass z with Some q => pass_so_far q | None => 0 end) /\
    (k <= z_K z -> pass_cost l m <= Cg /\ exists s, In s l /\ s_job s = m /\ s_last s = true).
  Proof.
    induction l as [|s l IH] using rev_ind; intros r m k Hs Hm Hc Hp z.
    - destruct (R1_released P X rules m k Hm Hc) as [Hk _].
      subst z. simpl. split; [exact I|]. split; [intros s []|]. split; [reflexivity|].
      split; [reflexivity|]. lia.
    - assert (Hs' : steps = l ++ s :: r) by (rewrite Hs, <- app_assoc; reflexivity).
      assert (Hp' : forall x, In x l -> pick_ok P x)
        by (intros x Hx; apply Hp; apply in_or_app; left; assumption).
      assert (Hps : pick_ok P s) by (apply Hp; apply in_or_app; right; left; reflexivity).
      specialize (IH (s :: r) m k Hs' Hm Hc Hp'). cbv zeta in IH.
      destruct IH as [Hw [Hlen [H1 [H2 H3]]]].
      pose proof (prefix_rule P X rules l s r Hs') as Hr. unfold step_rule in Hr.
      destruct Hr as [Hsn [_ [_ [_ [_ [_ [_ Hr]]]]]]].
      assert (Hlater : forall q, (exists x, In x l /\ s_job x = m /\ s_last x = true) ->
        exists x, In x (l ++ [q]) /\ s_job x = m /\ s_last x = true).
      { intros q [x [Hx Hx']]. exists x. split; [apply in_or_app; left; assumption|assumption]. }
      subst z. rewrite run_snoc, pass_cost_snoc.
      unfold finish, begin.
      destruct (j_class (jb (s_job s))) as [i|k'|j|] eqn:Ec.
      + assert (Hne : Nat.eqb (s_job s) m = false) by (apply Nat.eqb_neq; congruence).
        rewrite Hne, Z.add_0_r.
        assert (HH : (match z_pass (run l) with Some q => pass_within q | None => True end) /\
          (forall x, In x (l ++ [s]) -> s_job x = m -> s_en x - s_st x <= pass_step_time P (s_act x)) /\
          (z_K (run l) < k - 1 -> pass_cost l m = 0) /\
          (z_K (run l) = k - 1 -> pass_cost l m <=
             match z_pass (run l) with Some q => pass_so_far q | None => 0 end) /\
          (k <= z_K (run l) -> pass_cost l m <= Cg /\
             exists x, In x (l ++ [s]) /\ s_job x = m /\ s_last x = true)).
        { split; [assumption|]. split.
          - intros x Hx Hxm. apply in_app_or in Hx. destruct Hx as [Hx|[<-|[]]]; [auto|].
            apply Nat.eqb_neq in Hne. contradiction.
          - split; [assumption|]. split; [assumption|]. intros HK. destruct (H3 HK). auto. }
        destruct (s_act s); simpl; assumption.
      + destruct Hr as [HK Hr].
        destruct (Nat.eq_dec (s_job s) m) as [Heq|Hne].
        * assert (k' = k) by congruence. subst k'.
          specialize (H2 HK). clear H1 H3.
          replace (Nat.eqb (s_job s) m) with true by (symmetry; apply Nat.eqb_eq; assumption).
          assert (Hlen' : s_en s - s_st s <= pass_step_time P (s_act s) ->
            forall x, In x (l ++ [s]) -> s_job x = m -> s_en x - s_st x <= pass_step_time P (s_act x)).
          { intros Hls x Hx Hxm. apply in_app_or in Hx. destruct Hx as [Hx|[<-|[]]]; auto. }
          destruct (s_act s) as [|n0|val|n0|n0| |] eqn:Eact.
          -- destruct Hr as [Hr _]. destruct (z_pass (run l)); contradiction.
          -- destruct Hr as [Hr _]. destruct (z_pass (run l)); contradiction.
          -- destruct Hr as [Hn [_ [Hlg [_ Hv]]]]. rewrite Hn in *. simpl.
             pose proof (victim_nonneg P X _ _ _ Hv). pose proof (Hps val Eact).
             pose proof (ok_sizes P ok).
             assert (0 <= cdiv val (p_s P)) by (apply cdiv_nonneg; lia).
             split; [unfold pass_within; simpl; lia|]. split; [apply Hlen'; simpl; lia|].
             split; [lia|]. split; [intros _; rewrite pass_so_far_0; lia|]. lia.
          -- destruct Hr as [HR [Hlg _]].
             destruct (pass_within_begins _ _ HR ltac:(discriminate) Hw) as [q [q' [Hq [Hq' [Hwq Hcq]]]]].
             rewrite Hq in *. cbn [pass_begins] in Hq'. injection Hq' as Hq'. subst q'.
             cbn [z_pass z_K pass_begins is_void ind].
             split; [assumption|]. split; [apply Hlen'; lia|]. split; [lia|]. split; [lia|]. lia.
          -- destruct Hr as [HR [Hlg _]].
             destruct (pass_within_begins _ _ HR ltac:(discriminate) Hw) as [q [q' [Hq [Hq' [Hwq Hcq]]]]].
             rewrite Hq in *. cbn [pass_begins] in Hq'. injection Hq' as Hq'. subst q'.
             cbn [z_pass z_K pass_begins is_void ind].
             split; [assumption|]. split; [apply Hlen'; lia|]. split; [lia|]. split; [lia|]. lia.
          -- destruct Hr as [HR [Hlg Hlast]]. destruct (z_pass (run l)) as [q|]; [|contradiction].
             simpl. split; [exact I|]. split; [apply Hlen'; simpl; simpl in Hlg; lia|].
             split; [lia|]. split; [lia|]. intros _. split.
             ++ pose proof (pass_within_cost q Hw). lia.
             ++ exists s. split; [apply in_or_app; right; left; reflexivity|auto].
          -- destruct Hr as [Hn [_ [Hlg Hlast]]]. rewrite Hn in *. simpl.
             split; [exact I|]. split; [apply Hlen'; simpl; lia|].
             split; [lia|]. split; [lia|]. intros _. split.
             ++ pose proof (ok_collection P ok) as Hg. unfold collection_ok in Hg. fold Cg in Hg. lia.
             ++ exists s. split; [apply in_or_app; right; left; reflexivity|auto].
        * assert (Hkk : k' <> k).
          { intros ->. apply Hne. apply (R1_once P X rules _ _ k); assumption. }
          replace (Nat.eqb (s_job s) m) with false by (symmetry; apply Nat.eqb_neq; assumption).
          rewrite Z.add_0_r.
          assert (Hlen' : forall x, In x (l ++ [s]) -> s_job x = m ->
            s_en x - s_st x <= pass_step_time P (s_act x)).
          { intros x Hx Hxm. apply in_app_or in Hx. destruct Hx as [Hx|[<-|[]]]; [auto|contradiction]. }
          destruct (s_act s) as [|n0|val|n0|n0| |] eqn:Eact.
          -- destruct Hr as [Hr _]. destruct (z_pass (run l)); contradiction.
          -- destruct Hr as [Hr _]. destruct (z_pass (run l)); contradiction.
          -- destruct Hr as [Hn [_ [Hlg [_ Hv]]]]. simpl.
             pose proof (victim_nonneg P X _ _ _ Hv). pose proof (Hps val Eact).
             pose proof (ok_sizes P ok).
             assert (0 <= cdiv val (p_s P)) by (apply cdiv_nonneg; lia).
             split; [unfold pass_within; simpl; lia|]. split; [assumption|].
             split; [intros; apply H1; lia|]. split; [lia|].
             intros Hk. destruct (H3 ltac:(lia)). auto.
          -- destruct Hr as [HR _].
             destruct (pass_within_begins _ _ HR ltac:(discriminate) Hw) as [q [q' [Hq [Hq' [Hwq Hcq]]]]].
             rewrite Hq in *. cbn [pass_begins] in Hq'. injection Hq' as Hq'. subst q'.
             cbn [z_pass z_K pass_begins is_void ind].
             split; [assumption|]. split; [assumption|]. split; [intros; apply H1; lia|].
             split; [lia|]. intros Hk. destruct (H3 ltac:(lia)). auto.
          -- destruct Hr as [HR _].
             destruct (pass_within_begins _ _ HR ltac:(discriminate) Hw) as [q [q' [Hq [Hq' [Hwq Hcq]]]]].
             rewrite Hq in *. cbn [pass_begins] in Hq'. injection Hq' as Hq'. subst q'.
             cbn [z_pass z_K pass_begins is_void ind].
             split; [assumption|]. split; [assumption|]. split; [intros; apply H1; lia|].
             split; [lia|]. intros Hk. destruct (H3 ltac:(lia)). auto.
          -- simpl. split; [exact I|]. split; [assumption|].
             split; [intros; apply H1; lia|]. split; [intros; rewrite H1; lia|].
             intros Hk. destruct (H3 ltac:(lia)). auto.
          -- destruct Hr as [Hn _]. rewrite Hn. simpl. split; [exact I|]. split; [assumption|].
             split; [intros; apply H1; lia|]. split; [intros; rewrite H1; lia|].
             intros Hk. destruct (H3 ltac:(lia)). auto.
      + assert (Hne : Nat.eqb (s_job s) m = false) by (apply Nat.eqb_neq; congruence).
        rewrite Hne, Z.add_0_r.
        assert (Hlen' : forall x, In x (l ++ [s]) -> s_job x = m ->
            s_en x - s_st x <= pass_step_time P (s_act x)).
        { intros x Hx Hxm. apply in_app_or in Hx. destruct Hx as [Hx|[<-|[]]]; [auto|].
          apply Nat.eqb_neq in Hne. contradiction. }
        assert (H3' : k <= z_K (run l) -> pass_cost l m <= Cg /\
             exists x, In x (l ++ [s]) /\ s_job x = m /\ s_last x = true).
        { intros HK. destruct (H3 HK). auto. }
        destruct (s_act s); simpl; auto.
      + assert (Hne : Nat.eqb (s_job s) m = false) by (apply Nat.eqb_neq; congruence).
        rewrite Hne, Z.add_0_r.
        assert (Hlen' : forall x, In x (l ++ [s]) -> s_job x = m ->
            s_en x - s_st x <= pass_step_time P (s_act x)).
        { intros x Hx Hxm. apply in_app_or in Hx. destruct Hx as [Hx|[<-|[]]]; [auto|].
          apply Nat.eqb_neq in Hne. contradiction. }
        assert (H3' : k <= z_K (run l) -> pass_cost l m <= Cg /\
             exists x, In x (l ++ [s]) /\ s_job x = m /\ s_last x = true).
        { intros HK. destruct (H3 HK). auto. }
        destruct (s_act s); simpl; auto.
  Qed.

  (* No pass costs more than C_g, and one that is not over has cost less. *)
  Theorem pass_cost_bound : forall z m k, (m < n)%nat -> j_class (jb m) = Gc k ->
    picks_up_to P X (z - 1) ->
    executed z m <= Cg /\ (finished steps m z = false -> executed z m < Cg).
  Proof.
    intros z m k Hm Hc Hpk. destruct (executed_prefix z m) as [l [r [Hs [Hl ->]]]].
    assert (Hp : forall s, In s l -> pick_ok P s).
    { apply (picks_of_prefix P X l r (z - 1) Hs Hpk). intros s Hx. specialize (Hl s Hx). lia. }
    destruct (gc_cost_so_far l r m k Hs Hm Hc Hp) as [Hw [Hlen [H1 [H2 H3]]]].
    set (body := fun s => if Nat.eqb (s_job s) m then Z.min (s_en s) z - s_st s else 0).
    assert (Hle : forall s, In s l ->
      body s <= if Nat.eqb (s_job s) m then pass_step_time P (s_act s) else 0).
    { intros s Hx. unfold body. destruct (Nat.eqb_spec (s_job s) m); [|lia].
      specialize (Hlen s Hx ltac:(assumption)). lia. }
    assert (Hsum : suml body l <= pass_cost l m) by (apply suml_le; assumption).
    pose proof (ok_times P ok) as Ht. pose proof (ok_collection P ok) as Hg.
    unfold collection_ok in Hg. fold Cg in Hg.
    destruct (Z.lt_ge_cases (z_K (run l)) k) as [HK|HK].
    - assert (Hlt : pass_cost l m < Cg).
      { assert (HCe : p_e P <= Cg).
        { pose proof (ok_pass_step P ok). lia. }
        destruct (Z.eq_dec (z_K (run l)) (k - 1)) as [He|Hne].
        - specialize (H2 He). destruct (z_pass (run l)) as [q|]; [|lia].
          pose proof (pass_within_cost q Hw). lia.
        - rewrite H1 by lia. lia. }
      split; lia.
    - destruct (H3 HK) as [H4 [s [Hx [Hx1 Hx2]]]]. split; [lia|]. intros Hf.
      assert (z < s_en s).
      { destruct (Z.le_gt_cases (s_en s) z) as [Hle2|]; [exfalso|assumption].
        assert (Hin2 : In s steps) by (rewrite Hs; apply in_or_app; left; assumption).
        rewrite (finished_intro steps m z s Hin2 Hx1 Hx2 Hle2) in Hf. discriminate. }
      assert (suml body l < pass_cost l m); [|lia].
      apply (suml_lt _ _ l s); auto. unfold body. rewrite Hx1, Nat.eqb_refl.
      specialize (Hlen s Hx Hx1). specialize (Hl s Hx). lia.
  Qed.

End Costs.
