(* Section 13: Theorem 5 on a channel. Chips of cached stripes, each with a trace of its own, and any
   other chips share a bus, whose transfers are those of the steps. Waits are bounded by what the
   others transfer, (62) to (67), each relying on the others until the first miss. *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Demand Victims Sporadic Bus Trace Reserve Costs Edf Closing
  Neighbours
  Registers Stretches Cached Ranks.
Import ListNotations.
Open Scope Z_scope.

(* (34), of a cached stripe's chip: r_C is its pages. *)
Definition pages_live (rs : list request) (L : Z) : Z :=
  suml (fun r => cdiv (L + r_D r) (r_T r) * r_C r) rs.

(* (65) to (67): m chips charged to all, N the counts of the others by rank. *)
Definition fits_ranked (d : device) (rs : list request) (g : collection) (m : Z) (N : list Z) (L :
  Z)
  : Prop :=
  pages_read rs L * (t_r d + hold_over (t_d d) (t_r d) m) + pages_written rs L * cost_w d +
  due_passes rs g L * g_C g +
  W4 (t_d d) (t_r d) m (waits_K rs g L) (pages_read rs L) (fun l => nth l N 0) (length N) +
  begun_before d rs <= L.

(* (T2) of chip i, relying on chips of `cach`; at each length on any of them, in any order (the
   document has the greatest first). *)
Definition T2_ranked (d : device) (Pc : nat -> processor) (cach : nat -> bool) (i : nat) : Prop :=
  forall L, (exists y, In y (deadlines (p_rs (Pc i)) (p_g (Pc i))) /\ y <= L) ->
  exists rk, NoDup rk /\ (forall j, In j rk -> cach j = true /\ j <> i) /\
    Z.of_nat (length rk) <= m_c d - 1 /\
    fits_ranked d (p_rs (Pc i)) (p_g (Pc i)) (m_c d - 1 - Z.of_nat (length rk))
      (map (fun j => pages_live (p_rs (Pc j)) L) rk) L.

Lemma nodup_map : forall {A : Type} (f : A -> nat) l, NoDup l ->
  (forall a b, In a l -> In b l -> f a = f b -> a = b) -> NoDup (map f l).
Proof.
  intros A f. induction l as [|a l IH]; intros Hd Hi; [constructor|].
  apply NoDup_cons_iff in Hd. destruct Hd as [Ha Hd]. simpl. constructor.
  - intros Hc. apply in_map_iff in Hc. destruct Hc as [y [Hy Hyl]].
    assert (y = a) by (apply Hi; [right; assumption|left; reflexivity|assumption]). congruence.
  - apply IH; [assumption|]. intros y w Hy Hw. apply Hi; right; assumption.
Qed.

Section Channel.
  Variable d : device.
  Variable Pc : nat -> processor.
  Variable Xc : nat -> rtrace.
  Variable cach : nat -> bool.         (* the chips that are chips of cached stripes *)
  Variable t_end : Z.
  (* The bus: transfers, whose, asked, granted and over; and the transfer of a step. *)
  Variable n : nat.
  Variable chip : nat -> Z.
  Variables when_asked when_granted when_over : nat -> Z.
  Variable tr : nat -> rstep -> nat.

  Notation user s := (kind_of (g_act s) <> KPass).

  Record on_channel : Prop := {
    ch_bus : bus_obeys n chip when_asked when_granted when_over (m_c d) (t_d d);
    ch_turns : S3_first_come n when_asked \/ S3_round_robin n chip when_asked when_over;
    ch_chips : forall c, cach c = true -> (c < Z.to_nat (m_c d))%nat /\ v_end (Xc c) = t_end;
    (* A step of a user has a transfer, a transfer a step, one each. *)
    ch_step : forall c s, cach c = true -> In s (v_steps (Xc c)) -> user s ->
      (tr c s < n)%nat /\ chip (tr c s) = Z.of_nat c /\
      when_asked (tr c s) = asked s /\ when_over (tr c s) = moved s;
    ch_differ : forall c s r, cach c = true -> In s (v_steps (Xc c)) -> In r (v_steps (Xc c)) ->
      user s -> user r -> tr c s = tr c r -> s = r;
    ch_all : forall c l, cach c = true -> (l < n)%nat -> chip l = Z.of_nat c ->
      exists s, In s (v_steps (Xc c)) /\ user s /\ tr c s = l
  }.

  Hypothesis dev : device_ok d.
  Hypothesis channel : on_channel.
  Hypothesis stripes : forall c, cach c = true ->
    parameters_ok (Pc c) /\ cached d (Pc c) /\ registers_rules d (Pc c) (Xc c).

  (* (61) is Lemma 1. *)
  Theorem bus_within : forall c, cach c = true -> obeys_registers d (Pc c) (Xc c).
  Proof.
    intros c Hc. constructor; [apply (stripes c Hc)|]. intros s Hs Hk.
    destruct (ch_step channel c s Hc Hs Hk) as [H1 [_ [H3 H4]]].
    unfold device_ok in dev.
    pose proof (lemma_1 n chip when_asked when_granted when_over (m_c d) (t_d d) (ch_bus channel)
      ltac:(lia) (ch_turns channel) _ H1) as Hl.
    pose proof (times n chip when_asked when_granted when_over (m_c d) (t_d d) (ch_bus channel) _
      H1) as Ht.
    unfold bus. rewrite <- H3, <- H4. lia.
  Qed.

  Section Live.
    Variable c : nat.
    Hypothesis is_cached : cach c = true.
    Notation P := (Pc c).
    Notation X := (Xc c).
    Notation C := (counted_trace X).
    Notation jb := (vjb X).
    Notation rs := (p_rs P).
    Let rules := bus_within c is_cached.
    Let cnt : counted P C := x_counted d P X rules.
    Let ok : parameters_ok P := proj1 (stripes c is_cached).
    Let shapes := proj1 (proj2 (stripes c is_cached)).

    (* A transfer is over before its job. *)
    Lemma moved_before_over : forall s t, In s (v_steps X) -> user s -> over X (g_job s) t = true ->
      moved s <= t.
    Proof.
      intros s t Hs Hk H. apply existsb_exists in H. destruct H as [q [Hq H]].
      apply andb_true_iff in H. destruct H as [H H3]. apply andb_true_iff in H.
      destruct H as [H1 H2].
      apply Nat.eqb_eq in H1. apply Z.leb_le in H3.
      pose proof (kind_step d P X rules s Hs) as Ks. pose proof (kind_step d P X rules q Hq) as Kq.
      rewrite H1, <- Ks in Kq.
      pose proof (shape_in d P X rules s Hs) as Ss. pose proof (shape_in d P X rules q Hq) as Sq.
      pose proof (asked_shape s) as As. pose proof Hq as Hq0. apply in_split in Hq.
      destruct Hq as [l [r Hl]].
      destruct (X3_first d P X rules l q r Hl) as [[_ [_ Hb]] _].
      pose proof (after d P X rules l q r Hl) as Ha.
      assert (Hin : In s (l ++ [q])).
      { rewrite Hl in Hs. apply in_app_or in Hs. apply in_or_app.
        destruct Hs as [Hs|[Hs|Hs]]; [left; assumption|right; left; assumption|exfalso].
        apply in_split in Hs. destruct Hs as [r1 [r2 Hr]].
        assert (Hs2 : v_steps X = (l ++ q :: r1) ++ s :: r2) by (rewrite Hl, Hr, <- app_assoc;
          reflexivity).
        destruct (X3_first d P X rules _ _ _ Hs2) as [[_ [_ Hb2]] _].
        assert (begun (l ++ q :: r1) (g_job s) = true); [|congruence].
        apply begun_step. exists q. split; [apply in_or_app; right; left; reflexivity|auto]. }
      pose proof (at_most_R (l ++ [q]) s Hin) as HR. unfold shape in Ss, Sq. rewrite Kq in *.
      destruct (kind_of (g_act s)); [lia|lia|contradiction].
    Qed.

    (* A transfer in (x, z) is of a job that is released before z and due after x. *)
    Lemma transfers_live_registers : forall x z, x < z -> over_up_to X (z - 1) ->
      transfers_of n chip when_granted when_over x z (Z.of_nat c) <= pages_live rs (z - x).
    Proof.
      intros x z Hxz Hin.
      set (live := fun m => is_request C m && ((j_rel (jb m) <? z) && (x <? j_due (jb m)))).
      set (g := fun s => ind (live (g_job s))).
      assert (Hjob : forall s, In s (v_steps X) -> (g_job s < length (v_jobs X))%nat).
      { intros s Hs. apply in_split in Hs. destruct Hs as [l [r Hs]].
        apply (X3_first d P X rules l s r Hs). }
      assert (H1 : transfers_of n chip when_granted when_over x z (Z.of_nat c) <= suml g (v_steps
        X)).
      { unfold transfers_of, countn.
        apply (Z.le_trans _ (sumn (fun l => suml (fun s => if Nat.eqb (tr c s) l then g s else 0)
          (v_steps X)) n)).
        - apply sumn_le. intros l Hl.
          assert (Hg : forall s, 0 <= (if Nat.eqb (tr c s) l then g s else 0)).
          { intros s. unfold g, ind. destruct (Nat.eqb (tr c s) l); [destruct (live (g_job s))|];
              lia. }
          destruct (occupies chip when_granted when_over x z (Z.of_nat c) l) eqn:Eo.
          2:{ unfold ind. apply suml_nonneg. intros s _. apply Hg. }
          unfold occupies in Eo. apply andb_true_iff in Eo. destruct Eo as [Eo E3].
          apply andb_true_iff in Eo. destruct Eo as [E1 E2].
          apply Z.eqb_eq in E1. apply Z.ltb_lt in E2. apply Z.ltb_lt in E3.
          destruct (ch_all channel c l is_cached Hl E1) as [s [Hs [Hk Htr]]].
          destruct (ch_step channel c s is_cached Hs Hk) as [_ [_ [Ha Hm]]]. rewrite Htr in *.
          pose proof (times n chip when_asked when_granted when_over (m_c d) (t_d d) (ch_bus
            channel) l Hl)
            as Ht.
          assert (Hlv : live (g_job s) = true).
          { unfold live. pose proof (kind_step d P X rules s Hs) as Hks.
            assert (Hreq : is_request C (g_job s) = true).
            { unfold job_kind in Hks. unfold is_request.
              change (Trace.jb C (g_job s)) with (jb (g_job s)).
              destruct (j_class (jb (g_job s))); [reflexivity|exfalso; apply Hk; assumption..]. }
            rewrite Hreq. simpl.
            pose proof Hs as Hs0. apply in_split in Hs0. destruct Hs0 as [l1 [r1 Hs0]].
            destruct (X3_first d P X rules l1 s r1 Hs0) as [[_ [Hr _]] _].
            pose proof (shape_in d P X rules s Hs) as Ss. unfold shape in Ss.
            pose proof (asked_shape s) as As.
            assert (g_st s <= asked s) by (destruct (kind_of (g_act s)); [lia|lia|contradiction]).
            destruct (Z.ltb_spec (j_rel (jb (g_job s))) z); [simpl|lia].
            destruct (Z.ltb_spec x (j_due (jb (g_job s)))) as [|Hle]; [reflexivity|exfalso].
            pose proof (Hin (g_job s) (Hjob s Hs) ltac:(lia)) as Hov.
            pose proof (moved_before_over s _ Hs Hk Hov). lia. }
          change (ind true) with 1.
          assert (Hone : 1 <= (if Nat.eqb (tr c s) l then g s else 0)).
          { rewrite Htr, Nat.eqb_refl. unfold g. rewrite Hlv. unfold ind. lia. }
          apply in_split in Hs. destruct Hs as [l1 [r1 ->]]. rewrite suml_app, suml_cons.
          assert (0 <= suml (fun s0 => if Nat.eqb (tr c s0) l then g s0 else 0) l1)
            by (apply suml_nonneg; intros; apply Hg).
          assert (0 <= suml (fun s0 => if Nat.eqb (tr c s0) l then g s0 else 0) r1)
            by (apply suml_nonneg; intros; apply Hg).
          lia.
        - generalize (v_steps X). clear. induction l as [|s l IH].
          + rewrite sumn_zero; [apply Z.le_refl|reflexivity].
          + rewrite suml_cons.
            rewrite (sumn_ext n _ (fun k => (if Nat.eqb (tr c s) k then g s else 0)
              + suml (fun s => if Nat.eqb (tr c s) k then g s else 0) l)) by reflexivity.
            rewrite sumn_add. assert (Hg : 0 <= g s) by (unfold g, ind; destruct (live (g_job s));
              lia).
            assert (sumn (fun k => if Nat.eqb (tr c s) k then g s else 0) n <= g s); [|lia].
            destruct (lt_dec (tr c s) n) as [Hlt|Hge].
            * rewrite (sumn_single n _ (tr c s) Hlt); [rewrite Nat.eqb_refl; lia|].
              intros k _ Hk. destruct (Nat.eqb_spec (tr c s) k); [congruence|reflexivity].
            * rewrite sumn_zero; [assumption|]. intros k Hk.
              destruct (Nat.eqb_spec (tr c s) k); [lia|reflexivity]. }
      apply (Z.le_trans _ _ _ H1).
      rewrite (suml_by_key g_job g (v_steps X) (length (v_jobs X)) Hjob).
      set (key := fun m => match j_class (jb m) with Req i => i | _ => O end).
      assert (Hm : forall m, (m < length (v_jobs X))%nat ->
        suml (fun s => if Nat.eqb (g_job s) m then g s else 0) (v_steps X)
        <= if live m then r_C (rq P (key m)) else 0).
      { intros m Hm. destruct (live m) eqn:El.
        - pose proof El as El0. unfold live in El0. apply andb_true_iff in El0.
          destruct El0 as [Er _].
          unfold is_request in Er. unfold key. change (Trace.jb C m) with (jb m) in Er.
          destruct (j_class (jb m)) as [i| | |] eqn:Ec; try discriminate.
          destruct (parts_of_request P C cnt (x_steps C) [] m i ltac:(rewrite app_nil_r;
            reflexivity) Hm Ec)
            as [Hp _].
          destruct (sporadic P C cnt m i Hm Ec) as [Hi [_ [_ [_ [_ Hpq]]]]].
          assert (Hinr : In (rq P i) rs) by (apply nth_In; assumption).
          destruct (cached_requests d P shapes _ Hinr) as [Hq _]. rewrite Hq in Hpq.
          assert (Hle : suml (fun s => if Nat.eqb (g_job s) m then g s else 0) (v_steps X)
            <= parts (x_steps C) m).
          { unfold parts. simpl. generalize (v_steps X).
            induction l as [|s l IH]; [apply Z.le_refl|].
            simpl map. rewrite !suml_cons.
            assert ((if Nat.eqb (g_job s) m then g s else 0)
              <= ind (Nat.eqb (s_job (counted_step s)) m)); [|lia].
            simpl. unfold g, ind. destruct (Nat.eqb (g_job s) m); [destruct (live (g_job s))|];
              lia. }
          lia.
        - assert (suml (fun s => if Nat.eqb (g_job s) m then g s else 0) (v_steps X) = 0); [|lia].
          apply suml_zero. intros s _. destruct (Nat.eqb_spec (g_job s) m) as [He|]; [|reflexivity].
          unfold g. rewrite He, El. reflexivity. }
      apply (Z.le_trans _ _ _ (sumn_le _ _ _ Hm)).
      rewrite (sumn_by_class _ (length rs) key).
      2:{ intros m Hm' Hl. unfold live, is_request in Hl. unfold key.
          change (Trace.jb C m) with (jb m) in Hl.
          destruct (j_class (jb m)) eqn:E; try discriminate. apply (sporadic P C cnt m i Hm' E). }
      unfold pages_live. rewrite (suml_nth _ (Request 0 1 1 0 0 0)). apply sumn_le. intros i Hi.
      fold (rq P i).
      assert (Hinr : In (rq P i) rs) by (apply nth_In; assumption).
      pose proof (ok_requests P ok _ Hinr) as Hok. unfold request_ok in Hok.
      set (sel := fun m => live m && Nat.eqb (key m) i).
      assert (Hsel : forall m, (m < length (v_jobs X))%nat -> sel m = true ->
        j_class (jb m) = Req i /\ x - r_D (rq P i) < j_nom (jb m) < z).
      { intros m Hm' Hs. unfold sel, live, is_request, key in Hs.
        change (Trace.jb C m) with (jb m) in Hs.
        destruct (j_class (jb m)) eqn:E; simpl in Hs; try discriminate.
        apply andb_true_iff in Hs. destruct Hs as [Hs Hk]. apply Nat.eqb_eq in Hk. subst i0.
        apply andb_true_iff in Hs. destruct Hs as [Ha Hb]. apply Z.ltb_lt in Ha.
        apply Z.ltb_lt in Hb.
        pose proof (sporadic P C cnt m i Hm' E) as Hsp.
        change (Trace.jb C m) with (jb m) in Hsp. split; [reflexivity|lia]. }
      assert (Hcnt : countn sel (length (v_jobs X)) <= cdiv (z - x + r_D (rq P i)) (r_T (rq P i))).
      { replace (z - x + r_D (rq P i)) with (z - (x - r_D (rq P i))) by lia.
        apply arrivals_in_open with (nom := fun m => j_nom (jb m)); try lia.
        - apply (apart_weaken _ (is_req C i) sel); [|apply (period_apart P C cnt i)].
          intros m Hm' Hs. destruct (Hsel m Hm' Hs) as [E _]. unfold is_req.
          change (Trace.jb C m) with (jb m). rewrite E. apply Nat.eqb_refl.
        - intros m Hm' Hs. apply (Hsel m Hm' Hs). }
      assert (Hle : sumn (fun m => if sel m then r_C (rq P (key m)) else 0) (length (v_jobs X))
        <= r_C (rq P i) * countn sel (length (v_jobs X))).
      { apply sumn_count_mul. intros m Hm' Hs. unfold sel in Hs. apply andb_true_iff in Hs.
        destruct Hs as [_ Hk]. apply Nat.eqb_eq in Hk. rewrite Hk. lia. }
      apply (Z.le_trans _ _ _ Hle). rewrite Z.mul_comm. apply Z.mul_le_mono_nonneg_r; lia.
    Qed.
  End Live.

  (* The schedule of chip c, up to the first miss of a chip that it relies on. *)
  Theorem lemma_4_channel : forall c, cach c = true -> T2_ranked d Pc cach c ->
    forall z, z <= t_end ->
    (forall j, cach j = true -> over_up_to (Xc j) (z - 1)) ->
    picks_up_to (Pc c) (counted_trace (Xc c)) (z - 1) ->
    forall m, (m < length (v_jobs (Xc c)))%nat -> j_due (vjb (Xc c) m) = z -> over (Xc c) m z =
      true.
  Proof.
    intros c Hc HT z Hz Hover Hp m Hm Hd.
    destruct (over (Xc c) m z) eqn:Eo; [reflexivity|exfalso].
    destruct (stripes c Hc) as [ok [shp _]]. pose proof (bus_within c Hc) as rules.
    destruct (ch_chips channel c Hc) as [Hcm Hend].
    destruct (late_is_covered d (Pc c) (Xc c) dev ok shp rules z m Hm Hd Eo ltac:(lia) Hp)
      as [x [l [r [ch [dd [Hx [Hdd [HL [Hs [Hnd [Hin [Hfull [Hhold Hlt]]]]]]]]]]]]].
    destruct (HT (z - x) ltac:(exists dd; split; [assumption|lia])) as [rk [Hrk1 [Hrk2 [Hrk3 Hf]]]].
    unfold fits_ranked, cost_w in Hf. rewrite map_length in Hf.
    set (mm := m_c d - 1 - Z.of_nat (length rk)) in *.
    pose proof dev as dev0. unfold device_ok in dev0.
    assert (Hrank : forall j, In j rk -> (j < Z.to_nat (m_c d))%nat /\ Z.of_nat j <> Z.of_nat c).
    { intros j Hj. destruct (Hrk2 j Hj) as [H1 H2]. destruct (ch_chips channel j H1).
      split; [assumption|lia]. }
    assert (Hst : forall w, In w ch -> In (fst w) (v_steps (Xc c)) /\ user (fst w)).
    { intros w Hw. destruct (Hin w Hw) as [H1 [H2 _]]. split; [|assumption].
      rewrite Hs. apply in_or_app. left. assumption. }
    set (M := fun (w : rstep * bool) (k : nat) =>
      served_in n chip when_asked when_granted when_over x z (Z.of_nat (nth k rk O)) (tr c (fst
        w))).
    (* Each charge is what its wait may be. *)
    assert (Hcost : suml (amount d x z) ch <= suml (wait_cost (t_d d) (t_r d) mm (rstep * bool)
      snd M
      (length rk)) ch).
    { apply suml_le. intros w Hw. destruct (Hst w Hw) as [H1 H2].
      destruct (ch_step channel c (fst w) Hc H1 H2) as [H3 [H4 [H5 H6]]].
      pose proof (wait_served n chip when_asked when_granted when_over (m_c d) (t_d d) (ch_bus
        channel)
        ltac:(lia) (ch_turns channel) x z (Z.of_nat c) ltac:(lia) rk Hrk1 Hrank (tr c (fst w)) H3
          H4) as Hw2.
      rewrite H5, H6 in Hw2. change (part x z (fst w) <=
        (m_c d - 1 - Z.of_nat (length rk) + 1 + countn (M w) (length rk)) * t_d d) in Hw2.
      fold mm in Hw2. unfold amount, wait_cost. destruct (snd w); [assumption|].
      unfold hold_over. replace (mm + countn (M w) (length rk) + 1)
        with (mm + 1 + countn (M w) (length rk)) by ring. lia. }
    assert (Hnth : forall k, (k < length rk)%nat ->
      nth k (map (fun j => pages_live (p_rs (Pc j)) (z - x)) rk) 0
      = pages_live (p_rs (Pc (nth k rk O))) (z - x)).
    { intros k Hk. rewrite (nth_indep _ 0 ((fun j => pages_live (p_rs (Pc j)) (z - x)) O))
        by (rewrite map_length; assumption).
      rewrite (map_nth (fun j => pages_live (p_rs (Pc j)) (z - x))). reflexivity. }
    pose proof (convex_waits (t_d d) (t_r d) mm ltac:(lia) ltac:(unfold mm;
      lia) (rstep * bool) snd M
      (length rk) (fun k => nth k (map (fun j => pages_live (p_rs (Pc j)) (z - x)) rk) 0) ch
      (waits_K (p_rs (Pc c)) (p_g (Pc c)) (z - x)) (pages_read (p_rs (Pc c)) (z - x)) Hfull Hhold)
        as Hcv.
    assert (HN : forall k, (k < length rk)%nat -> suml (fun w => ind (M w k)) ch
      <= nth k (map (fun j => pages_live (p_rs (Pc j)) (z - x)) rk) 0).
    { intros k Hk. rewrite (Hnth k Hk). set (j := nth k rk O) in *.
      assert (Hj : In j rk) by (apply nth_In; assumption).
      destruct (Hrk2 j Hj) as [Hj1 Hj2].
      apply (Z.le_trans _ (transfers_of n chip when_granted when_over x z (Z.of_nat j))).
      - assert (Heq : suml (fun w => ind (M w k)) ch
          = suml (fun t => ind (served_in n chip when_asked when_granted when_over x z (Z.of_nat
            j) t))
              (map (tr c) (map fst ch))).
        { unfold M. fold j. clear. induction ch as [|w ch IH]; [reflexivity|].
          simpl map. rewrite !suml_cons, IH. reflexivity. }
        rewrite Heq.
        apply (served_at_most n chip when_asked when_granted when_over (m_c d) (t_d d) (ch_bus
          channel)
          x z (Z.of_nat c)).
        + apply nodup_map; [assumption|]. intros a b Ha Hb He.
          apply in_map_iff in Ha. destruct Ha as [w1 [<- Hw1]].
          apply in_map_iff in Hb. destruct Hb as [w2 [<- Hw2]].
          destruct (Hst w1 Hw1). destruct (Hst w2 Hw2). apply (ch_differ channel c); assumption.
        + intros t Ht. apply in_map_iff in Ht. destruct Ht as [a [<- Ha]].
          apply in_map_iff in Ha. destruct Ha as [w1 [<- Hw1]]. destruct (Hst w1 Hw1) as [Ha Hb].
          destruct (ch_step channel c (fst w1) Hc Ha Hb) as [Hn1 [Hn2 _]]. auto.
        + lia.
      - apply (transfers_live_registers j Hj1 x z ltac:(lia) (Hover j Hj1)). }
    specialize (Hcv HN). lia.
  Qed.

  Hypothesis tests : forall c, cach c = true -> T2_ranked d Pc cach c.

  (* There is no first bad instant, on any of the chips. *)
  Lemma no_bad_instant_channel : forall k : nat, Z.of_nat k - 1 <= t_end ->
    forall c, cach c = true -> over_up_to (Xc c) (Z.of_nat k - 1) /\
      picks_up_to (Pc c) (counted_trace (Xc c)) (Z.of_nat k - 1).
  Proof.
    induction k as [|k IH]; intros Hk c Hc; destruct (stripes c Hc) as [ok [shp _]];
      pose proof (bus_within c Hc) as rules; destruct (ch_chips channel c Hc) as [_ Hend].
    - split.
      + intros m Hm Hd. pose proof (due_positive d (Pc c) (Xc c) ok rules m Hm). simpl in Hd. lia.
      + intros l s r val Hs _ Hst.
        pose proof (step_order (Pc c) _ (x_counted d (Pc c) (Xc c) rules) l s r Hs) as [Ho _].
        simpl in Hst. lia.
    - specialize (IH ltac:(lia)). destruct (IH c Hc) as [IH1 IH2].
      replace (Z.of_nat (S k) - 1) with (Z.of_nat k) in * by lia.
      assert (Ho : over_up_to (Xc c) (Z.of_nat k)).
      { intros m Hm Hd.
        destruct (Z.le_gt_cases (j_due (vjb (Xc c) m)) (Z.of_nat k - 1)) as [Hle|Hgt];
          [apply IH1; assumption|].
        assert (He : j_due (vjb (Xc c) m) = Z.of_nat k) by lia. rewrite He.
        apply (lemma_4_channel c Hc (tests c Hc) (Z.of_nat k)); try assumption.
        intros j Hj. apply (IH j Hj). }
      split; [assumption|]. apply (picks_next d (Pc c) (Xc c) ok rules); assumption.
  Qed.

  Lemma channel_closed : forall c, cach c = true -> registers_promises (Pc c) (Xc c).
  Proof.
    intros c Hc. destruct (stripes c Hc) as [ok [shp _]]. pose proof (bus_within c Hc) as rules.
    destruct (ch_chips channel c Hc) as [_ Hend].
    apply (promises_of_deadlines d (Pc c) (Xc c) ok rules). intros t Ht.
    destruct (Z.le_gt_cases 0 t) as [H0|H0].
    - replace t with (Z.of_nat (Z.to_nat (t + 1)) - 1) by lia.
      apply no_bad_instant_channel; [lia|assumption].
    - split.
      + intros m Hm Hd. pose proof (due_positive d (Pc c) (Xc c) ok rules m Hm). lia.
      + intros l s r val Hs _ Hst.
        pose proof (step_order (Pc c) _ (x_counted d (Pc c) (Xc c) rules) l s r Hs) as [Ho _]. lia.
  Qed.
End Channel.

(* Theorem 5: on a channel where every chip of a cached stripe passes (T2), none is late, whatever
   the other chips do. *)
Theorem theorem_5 : forall d (Pc : nat -> processor) (Xc : nat -> rtrace) cach t_end
  n chip when_asked when_granted when_over tr,
  device_ok d ->
  (forall c, cach c = true -> parameters_ok (Pc c) /\ cached d (Pc c)) ->
  (forall c, cach c = true -> T2_ranked d Pc cach c) ->                  (* (T2) *)
  (forall c, cach c = true -> registers_rules d (Pc c) (Xc c)) ->        (* X1 to X4, R1 to R5 *)
  on_channel d Xc cach t_end n chip when_asked when_granted when_over tr ->
  forall c, cach c = true -> registers_promises (Pc c) (Xc c).
Proof.
  intros d Pc Xc cach t_end n chip wa wg wo tr dev Hok HT Hr Hch.
  apply (channel_closed d Pc Xc cach t_end n chip wa wg wo tr dev Hch); [|assumption].
  intros c Hc. destruct (Hok c Hc). auto.
Qed.
