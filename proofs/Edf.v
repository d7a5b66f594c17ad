(* Section 2.6: Lemma 4. If (T) holds, no step takes longer than it should and no pass costs more
   than C_g, then no deadline is missed. The interval [x, z] is found in the trace; its time is
   counted by jobs; the blocking step is charged as in Lemma 8. *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Demand Victims Sporadic Trace Reserve Costs Server.
Import ListNotations.
Open Scope Z_scope.

(* The part of a step that lies in [lo, hi). *)
Definition overlap (lo hi : Z) (s : step) : Z :=
  Z.max 0 (Z.min (s_en s) hi - Z.max (s_st s) lo).

Lemma covered : forall l lo k, 0 <= k ->
  (forall t, lo <= t < lo + k -> exists s, In s l /\ s_st s <= t < s_en s) ->
  k <= suml (overlap lo (lo + k)) l.
Proof.
  intros l lo k Hk. revert k Hk. apply (natlike_ind (fun k =>
    (forall t, lo <= t < lo + k -> exists s, In s l /\ s_st s <= t < s_en s) ->
    k <= suml (overlap lo (lo + k)) l)).
  - intros _. apply suml_nonneg. intros. unfold overlap. lia.
  - intros k Hk IH H.
    assert (H1 : k <= suml (overlap lo (lo + k)) l) by (apply IH; intros t Ht; apply H; lia).
    destruct (H (lo + k)) as [s [Hs1 Hs2]]; [lia|].
    assert (suml (overlap lo (lo + k)) l < suml (overlap lo (lo + Z.succ k)) l); [|lia].
    apply (suml_lt _ _ l s); [|assumption|].
    + intros y _. unfold overlap. lia.
    + unfold overlap. lia.
Qed.

Lemma last_false : forall (p : Z -> bool) z, 0 <= z -> p 0 = false ->
  exists x, 0 <= x <= z /\ p x = false /\ forall y, x < y <= z -> p y = true.
Proof.
  intros p. apply (natlike_ind (fun z => p 0 = false ->
    exists x, 0 <= x <= z /\ p x = false /\ forall y, x < y <= z -> p y = true)).
  - intros H. exists 0. split; [lia|]. split; [assumption|]. intros. lia.
  - intros z Hz IH H. destruct (p (Z.succ z)) eqn:E.
    + destruct (IH H) as [x [H1 [H2 H3]]]. exists x. split; [lia|]. split; [assumption|].
      intros y Hy. destruct (Z.eq_dec y (Z.succ z)) as [->|]; [assumption|apply H3; lia].
    + exists (Z.succ z). split; [lia|]. split; [assumption|]. intros. lia.
Qed.

(* What is due in an interval, however the processor serves it. *)
Section Due.
  Variable P : processor.
  Variable X : trace.
  Hypothesis ok : parameters_ok P.
  Hypothesis rules : counted P X.
  Variable z : Z.

  Let n := length (x_jobs X).
  Let alpha := g_alpha (p_g P).
  Notation jb := (jb X).
  Notation rq := (rq P).
  Notation arrived := (arrived X).

  Lemma late_window : forall j, (j < n)%nat -> real_time X j = true -> j_due (jb j) = z ->
    exists d, In d (deadlines (p_rs P) (p_g P)) /\ j_rel (jb j) + d <= z /\ 1 <= d.
  Proof.
    intros j j_in j_real j_due_z. unfold real_time, is_request, is_gc in j_real.
    destruct (j_class (jb j)) as [i|k|i|] eqn:Ec; try discriminate.
    - pose proof (sporadic P X rules j i j_in Ec) as [Hi Hsp].
      assert (Hin : In (rq i) (p_rs P)) by (apply nth_In; assumption).
      pose proof (ok_requests P ok _ Hin) as Hok. unfold request_ok in Hok.
      exists (window (rq i)). split; [|unfold window; lia].
      unfold deadlines. apply in_or_app. left. apply in_map. assumption.
    - destruct (R1_released P X rules j k j_in Ec) as [Hk [Har Hdue]].
      pose proof (ok_collection P ok) as Hg. unfold collection_ok in Hg.
      exists (g_D (p_g P)). split; [|lia].
      unfold deadlines. apply in_or_app. right.
      destruct (writes (p_rs P)) eqn:E; [left; reflexivity|exfalso].
      assert (arrived (j_rel (jb j)) = 0); [|nia].
      apply sumn_zero. intros m Hm. destruct (is_request X m) eqn:Er; simpl; [|reflexivity].
      unfold is_request in Er. destruct (j_class (jb m)) eqn:Ec2; try discriminate.
      pose proof (sporadic P X rules m i Hm Ec2) as [Hi Hsp].
      assert (Hin : In (rq i) (p_rs P)) by (apply nth_In; assumption).
      rewrite (no_writer (p_rs P) (ok_requests P ok) E (rq i) Hin) in Hsp.
      destruct (j_rel (jb m) <=? j_rel (jb j)); lia.
  Qed.

  (* Lemma 7: jobs of request i released and due in [x, z] are n(L) at most. *)
  Lemma requests_due : forall x i, (i < length (p_rs P))%nat -> x < z ->
    countn (fun m => (x <=? j_rel (jb m)) && (j_due (jb m) <=? z) && is_req X i m) n
    <= due_jobs (rq i) (z - x).
  Proof.
    intros x i Hi Hxz.
    assert (Hin : In (rq i) (p_rs P)) by (apply nth_In; assumption).
    pose proof (ok_requests P ok _ Hin) as Hok. unfold request_ok in Hok.
    set (sel := fun m => (x <=? j_rel (jb m)) && (j_due (jb m) <=? z) && is_req X i m).
    assert (Hsel : forall m, (m < n)%nat -> sel m = true ->
      j_class (jb m) = Req i /\ x - r_J (rq i) <= j_nom (jb m) <= z - r_D (rq i)).
    { intros m Hm Hs. unfold sel, is_req in Hs. apply andb_true_iff in Hs. destruct Hs as [Hs1 Hs2].
      apply andb_true_iff in Hs1. destruct Hs1 as [Hs1 Hs3].
      destruct (j_class (jb m)) eqn:Ec; try discriminate. apply Nat.eqb_eq in Hs2. subst.
      apply Z.leb_le in Hs1. apply Z.leb_le in Hs3.
      pose proof (sporadic P X rules m i Hm Ec). split; [reflexivity|lia]. }
    unfold due_jobs. destruct (Z.leb_spec (window (rq i)) (z - x)) as [Hw|Hw].
    - unfold window in *.
      replace (z - x - (r_D (rq i) - r_J (rq i))) with (z - r_D (rq i) - (x - r_J (rq i))) by lia.
      apply arrivals_in_closed with (nom := fun m => j_nom (jb m)); try lia.
      + apply (apart_weaken n (is_req X i) sel); [|apply (period_apart P X rules i)].
        intros m Hm Hs. unfold sel in Hs. apply andb_true_iff in Hs. apply Hs.
      + intros m Hm Hs. apply (Hsel m Hm Hs).
    - assert (countn sel n = 0); [|lia].
      apply sumn_zero. intros m Hm. unfold ind. destruct (sel m) eqn:E; [|reflexivity].
      destruct (Hsel m Hm E) as [_ Hc]. unfold window in Hw. lia.
  Qed.

  (* (12), (13): GC jobs released by the counter (R1), and due in [x, z]. *)
  Lemma passes_due : forall x, x < z ->
    countn (fun m => (x <=? j_rel (jb m)) && (j_due (jb m) <=? z) && is_gc X m) n
    <= due_passes (p_rs P) (p_g P) (z - x).
  Proof.
    intros x Hxz. pose proof (alpha_positive P X ok) as Ha. fold alpha in Ha.
    set (sel := fun m => (x <=? j_rel (jb m)) && (j_due (jb m) <=? z) && is_gc X m).
    assert (Hsel : forall m, (m < n)%nat -> sel m = true ->
      j_class (jb m) = Gc (gc_number X m) /\ x <= j_rel (jb m) <= z - g_D (p_g P)).
    { intros m Hm Hs. unfold sel, is_gc in Hs. apply andb_true_iff in Hs. destruct Hs as [Hs1 Hs2].
      apply andb_true_iff in Hs1. destruct Hs1 as [Hs1 Hs3]. unfold gc_number.
      destruct (j_class (jb m)) eqn:Ec; try discriminate.
      apply Z.leb_le in Hs1. apply Z.leb_le in Hs3.
      destruct (R1_released P X rules m k Hm Ec) as [_ [_ Hd]]. split; [reflexivity|lia]. }
    unfold due_passes. destruct (Z.leb_spec (g_D (p_g P)) (z - x)) as [Hw|Hw].
    - fold alpha. set (y := z - g_D (p_g P)).
      assert (Hg : countn sel n <= cdiv (arrived y - arrived (x - 1)) alpha).
      { apply multiples_passed with (k := gc_number X); [assumption| | |].
        - apply (arrived_mono P X rules). lia.
        - intros m r Hm Hr Hsm Hsr Heq. destruct (Hsel m Hm Hsm) as [Em _].
          destruct (Hsel r Hr Hsr) as [Er _]. rewrite <- Heq in Er.
          apply (R1_once P X rules m r (gc_number X m)); assumption.
        - intros m Hm Hs. destruct (Hsel m Hm Hs) as [Em Hr].
          destruct (R1_released P X rules m _ Hm Em) as [_ [Hk _]]. fold alpha in Hk.
          pose proof (arrived_mono P X rules (x - 1) (j_rel (jb m) - 1) ltac:(lia)).
          pose proof (arrived_mono P X rules (j_rel (jb m)) y ltac:(unfold y; lia)). lia. }
      pose proof (X_of_several_writers P X ok rules x y ltac:(unfold y; lia)) as HX.
      replace (y - x) with (z - x - g_D (p_g P)) in HX by (unfold y; lia).
      assert (cdiv (arrived y - arrived (x - 1)) alpha
        <= cdiv (arriving (p_rs P) (z - x - g_D (p_g P))) alpha)
        by (apply cdiv_mono; lia).
      lia.
    - assert (countn sel n = 0); [|lia].
      apply sumn_zero. intros m Hm. unfold ind. destruct (sel m) eqn:E; [|reflexivity].
      destruct (Hsel m Hm E) as [_ Hc]. lia.
  Qed.
End Due.

Section Edf.
  Variable P : processor.
  Variable X : trace.
  Hypothesis ok : parameters_ok P.
  Hypothesis rules : obeys P X.

  Let n := length (x_jobs X).
  Let alpha := g_alpha (p_g P).
  Let Cg := g_C (p_g P).
  Notation jb := (jb X).
  Notation rq := (rq P).
  Notation arrived := (arrived X).
  Notation run := (run P X).
  Notation steps := (x_steps X).
  Notation executed := (executed X).

  Section Late.
    Variable z : Z.
    Variable j : nat.
    Hypothesis j_in : (j < n)%nat.
    Hypothesis j_real : real_time X j = true.
    Hypothesis j_due_z : j_due (jb j) = z.
    Hypothesis j_late : finished steps j z = false.
    Hypothesis z_end : z <= x_end X.
    Hypothesis picks : picks_up_to P X (z - 1).

    (* A job released before t and due by z is pending at t. *)
    Let live (t : Z) : bool :=
      existsb (fun m => (j_rel (jb m) <? t) && (j_due (jb m) <=? z) && negb (finished steps m t))
        (seq 0 n).

    Lemma live_intro : forall t m, (m < n)%nat -> j_rel (jb m) < t -> j_due (jb m) <= z ->
      finished steps m t = false -> live t = true.
    Proof.
      intros t m Hm H1 H2 H3. unfold live. apply existsb_exists. exists m.
      split; [apply in_seq; lia|]. rewrite H3.
      destruct (Z.ltb_spec (j_rel (jb m)) t); [|lia].
      destruct (Z.leb_spec (j_due (jb m)) z); [reflexivity|lia].
    Qed.

    Lemma live_elim : forall t, live t = true -> exists m, (m < n)%nat /\ j_rel (jb m) < t /\
      j_due (jb m) <= z /\ finished steps m t = false.
    Proof.
      intros t H. unfold live in H. apply existsb_exists in H. destruct H as [m [Hm H]].
      apply in_seq in Hm. apply andb_true_iff in H. destruct H as [H H3].
      apply andb_true_iff in H. destruct H as [H1 H2].
      apply Z.ltb_lt in H1. apply Z.leb_le in H2. apply negb_true_iff in H3.
      exists m. split; [lia|auto].
    Qed.

    (* The busy interval: from x to z the processor works for jobs released since x and due by z,
       but for a step begun before x of a job that is due later. *)
    Lemma busy_interval : exists x blk, 0 <= x /\ x <= j_rel (jb j) /\ x < z /\
      z - x <= blk + sumn (fun m =>
        if (x <=? j_rel (jb m)) && (j_due (jb m) <=? z) then executed z m else 0) n /\
      (blk = 0 \/ exists l s r, steps = l ++ s :: r /\ s_st s < x /\ x < s_en s /\
         blk <= Z.min (s_en s) z - x /\ j_rel (jb (s_job s)) < x /\ z < j_due (jb (s_job s))).
    Proof.
      destruct (late_window P X ok rules z j j_in j_real j_due_z) as [d [_ [Hd1 Hd2]]].
      pose proof (released P X rules j j_in) as Hrel.
      destruct (last_false live z) as [x [Hx [Hx1 Hx2]]]; [lia| |].
      { destruct (live 0) eqn:E; [|reflexivity]. destruct (live_elim 0 E) as [m [Hm [H1 _]]].
        pose proof (released P X rules m Hm). lia. }
      assert (Hxz : x < z).
      { destruct (Z.eq_dec x z) as [->|]; [|lia].
        rewrite (live_intro z j j_in) in Hx1; [discriminate|lia|lia|assumption]. }
      assert (Hxj : x <= j_rel (jb j)).
      { destruct (Z.le_gt_cases x (j_rel (jb j))) as [|Hgt]; [assumption|exfalso].
        rewrite (live_intro x j j_in) in Hx1; [discriminate|lia|lia|].
        destruct (finished steps j x) eqn:E; [|reflexivity].
        pose proof (finished_more P X steps [] j x z E ltac:(lia)) as Hc. rewrite app_nil_r in Hc.
        congruence. }
      assert (Hcover : forall t, x <= t < z -> exists s, In s steps /\ s_st s <= t < s_en s).
      { intros t Ht. destruct (live_elim (t + 1) (Hx2 (t + 1) ltac:(lia))) as [m [Hm [H1 [_ H3]]]].
        apply (not_idle P X rules t m); [lia|assumption|lia|].
        destruct (finished steps m t) eqn:E; [|reflexivity].
        pose proof (finished_more P X steps [] m t (t + 1) E ltac:(lia)) as Hc.
        rewrite app_nil_r in Hc. congruence. }
      assert (Hown : forall s, In s steps -> x <= s_st s < z -> s_st s < s_en s ->
        x <= j_rel (jb (s_job s)) /\ j_due (jb (s_job s)) <= z).
      { intros s Hs Hst Hlen. pose proof Hs as Hs0. apply in_split in Hs. destruct Hs as [l [r Hs]].
        pose proof (prefix_rule P X rules l s r Hs) as Hr. unfold step_rule in Hr.
        destruct Hr as [Hm [_ [_ [_ [Hrl [_ [Hedf _]]]]]]].
        destruct (live_elim (s_st s + 1) (Hx2 (s_st s + 1) ltac:(lia))) as [m [Hm1 [H1 [H2 H3]]]].
        assert (Hdue : j_due (jb (s_job s)) <= z).
        { assert (Hmf : finished l m (s_st s) = false).
          { destruct (finished l m (s_st s)) eqn:E; [|reflexivity].
            pose proof (finished_more P X l (s :: r) m _ (s_st s + 1) E ltac:(lia)) as Hc.
            rewrite <- Hs in Hc. congruence. }
          pose proof (Hedf m Hm1 ltac:(lia) Hmf). lia. }
        split; [|assumption].
        destruct (Z.le_gt_cases x (j_rel (jb (s_job s)))) as [|Hgt]; [assumption|exfalso].
        rewrite (live_intro x (s_job s) Hm) in Hx1; [discriminate|lia|assumption|].
        apply (not_finished_under_way P X rules); [assumption|lia]. }
      set (ex := fun s => if (x <=? s_st s) && (s_st s <? z) then Z.min (s_en s) z - s_st s else 0).
      set (bl := fun s => if s_st s <? x then Z.max 0 (Z.min (s_en s) z - x) else 0).
      assert (Hsplit : z - x <= suml bl steps + suml ex steps).
      { pose proof (covered steps x (z - x) ltac:(lia)) as Hcov.
        replace (x + (z - x)) with z in Hcov by lia. specialize (Hcov Hcover).
        assert (Hle : suml (overlap x z) steps <= suml (fun s => bl s + ex s) steps).
        { apply suml_le. intros s Hs. destruct (step_of_list P X rules s Hs) as [l [r [Hl _]]].
          pose proof (step_order P X rules l s r Hl) as [Ho _].
          unfold overlap, bl, ex.
          destruct (Z.ltb_spec (s_st s) x); destruct (Z.leb_spec x (s_st s));
            destruct (Z.ltb_spec (s_st s) z); simpl; lia. }
        assert (Hadd : suml (fun s => bl s + ex s) steps = suml bl steps + suml ex steps).
        { generalize steps. induction l; simpl; [reflexivity|]. rewrite IHl. lia. }
        lia. }
      assert (Hex : suml ex steps <= sumn (fun m =>
        if (x <=? j_rel (jb m)) && (j_due (jb m) <=? z) then executed z m else 0) n).
      { rewrite (suml_by_key s_job _ steps n).
        2:{ intros s Hs. destruct (step_of_list P X rules s Hs) as [l [r [_ Hr]]]. apply Hr. }
        apply sumn_le. intros m Hm.
        destruct ((x <=? j_rel (jb m)) && (j_due (jb m) <=? z)) eqn:Esel.
        - unfold executed. apply suml_le. intros s Hs.
          destruct (step_of_list P X rules s Hs) as [l [r [Hl _]]].
          pose proof (step_order P X rules l s r Hl) as [Ho _].
          unfold ex. destruct (Nat.eqb (s_job s) m); simpl; [|lia].
          destruct (Z.leb_spec x (s_st s)); destruct (Z.ltb_spec (s_st s) z); simpl; lia.
        - assert (suml (fun s => if Nat.eqb (s_job s) m then ex s else 0) steps
            <= suml (fun _ => 0) steps); [|assert (suml (fun _ : step => 0) steps = 0)
              by (apply suml_zero; reflexivity); lia].
          apply suml_le. intros s Hs. destruct (Nat.eqb_spec (s_job s) m); [|lia].
          destruct (step_of_list P X rules s Hs) as [l [r [Hl _]]].
          pose proof (step_order P X rules l s r Hl) as [Ho _].
          unfold ex. destruct (Z.leb_spec x (s_st s)); destruct (Z.ltb_spec (s_st s) z); simpl; try lia.
          destruct (Z.eq_dec (s_st s) (s_en s)); [lia|].
          destruct (Hown s Hs) as [Hr1 Hr2]; [lia|lia|].
          subst m. destruct (Z.leb_spec x (j_rel (jb (s_job s)))); [|lia].
          destruct (Z.leb_spec (j_due (jb (s_job s))) z); [discriminate|lia]. }
      assert (Hblk : suml bl steps = 0 \/ exists l s r, steps = l ++ s :: r /\ s_st s < x /\
         x < s_en s /\ suml bl steps <= Z.min (s_en s) z - x /\ j_rel (jb (s_job s)) < x /\
         z < j_due (jb (s_job s))).
      { destruct (existsb (fun s => (s_st s <? x) && (x <? s_en s)) steps) eqn:E.
        - right. apply existsb_exists in E. destruct E as [s [Hs Hst]].
          apply andb_true_iff in Hst. destruct Hst as [Hst Hen].
          apply Z.ltb_lt in Hst. apply Z.ltb_lt in Hen.
          pose proof Hs as Hs0. apply in_split in Hs. destruct Hs as [l [r Hs]].
          exists l, s, r. split; [assumption|]. split; [assumption|]. split; [assumption|].
          pose proof (step_order P X rules l s r Hs) as [Ho1 [Ho2 Ho3]].
          pose proof (prefix_rule P X rules l s r Hs) as Hr. unfold step_rule in Hr.
          destruct Hr as [Hm [_ [_ [_ [Hrl _]]]]].
          split.
          + rewrite Hs, suml_app. simpl. rewrite (suml_zero bl l).
            2:{ intros y Hy. specialize (Ho2 y Hy). unfold bl. destruct (s_st y <? x); lia. }
            rewrite (suml_zero bl r).
            2:{ intros y Hy. specialize (Ho3 y Hy). unfold bl.
                destruct (Z.ltb_spec (s_st y) x); lia. }
            unfold bl. destruct (Z.ltb_spec (s_st s) x); lia.
          + split; [lia|].
            destruct (Z.lt_ge_cases z (j_due (jb (s_job s)))) as [|Hge]; [assumption|exfalso].
            rewrite (live_intro x (s_job s) Hm) in Hx1; [discriminate|lia|lia|].
            apply (not_finished_under_way P X rules); assumption.
        - left. apply suml_zero. intros s Hs. unfold bl.
          destruct (Z.ltb_spec (s_st s) x); [|reflexivity].
          assert (Hns : (s_st s <? x) && (x <? s_en s) = false).
          { destruct ((s_st s <? x) && (x <? s_en s)) eqn:E2; [|reflexivity].
            assert (existsb (fun s => (s_st s <? x) && (x <? s_en s)) steps = true)
              by (apply existsb_exists; exists s; auto). congruence. }
          apply andb_false_iff in Hns. destruct Hns as [Hns|Hns]; apply Z.ltb_ge in Hns; lia. }
      exists x, (suml bl steps). repeat split; auto; lia.
    Qed.

    (* A step of collection is no longer than it may be. *)
    Lemma collection_step : forall l s r k, steps = l ++ s :: r -> s_st s < z ->
      j_class (jb (s_job s)) = Gc k -> s_en s - s_st s <= g_q (p_g P).
    Proof.
      intros l s r k Hs Hst Hc. pose proof (prefix_rule P X rules l s r Hs) as Hr.
      unfold step_rule in Hr. rewrite Hc in Hr.
      destruct Hr as [_ [_ [_ [_ [_ [_ [_ [_ Hr]]]]]]]].
      assert (I : invariant P X (run l) (s_st s)).
      { apply (invariant_run P X ok rules l (s :: r)); [assumption|].
        pose proof (moment_at_step P X rules l s r Hs) as [_ [Hm _]].
        intros y Hy. split; [apply Hm; assumption|].
        apply (picks_of_prefix P X l (s :: r) (z - 1) Hs picks); [|assumption].
        intros w Hw. specialize (Hm w Hw). lia. }
      pose proof (ok_pass_step P ok) as [Hq1 [Hq2 Hq3]].
      pose proof (ok_collection P ok) as Hg. unfold collection_ok in Hg.
      pose proof (i_pass P X _ _ I) as Hpo. unfold pass_ok in Hpo.
      destruct (s_act s) eqn:Eact.
      - destruct Hr as [Hr _]. destruct (z_pass (run l)); contradiction.
      - destruct Hr as [Hr _]. destruct (z_pass (run l)); contradiction.
      - lia.
      - destruct Hr as [Hr [Hl _]]. destruct (z_pass (run l)); [|contradiction].
        simpl in *. unfold reads_cost in *. lia.
      - destruct Hr as [Hr [Hl _]]. destruct (z_pass (run l)); [|contradiction]. simpl in *. lia.
      - destruct Hr as [Hr [Hl _]]. simpl in *. lia.
      - lia.
    Qed.

    (* A step of the server's or in the background is q_s at most. *)
    Lemma other_step : forall l s r, steps = l ++ s :: r ->
      is_srv X (s_job s) = true \/ j_class (jb (s_job s)) = Bg ->
      s_st s < z -> s_en s - s_st s <= g_qs (p_g P).
    Proof.
      intros l s r Hs Hc Hst. pose proof (prefix_rule P X rules l s r Hs) as Hr.
      unfold step_rule in Hr. destruct Hr as [Hm [_ [_ [_ [_ [_ [_ Hr]]]]]]].
      pose proof (ok_collection P ok) as Hg. unfold collection_ok in Hg.
      destruct Hc as [Hc|Hc]; [|rewrite Hc in Hr; lia].
      unfold is_srv in Hc. destruct (j_class (jb (s_job s))) eqn:Ec; try discriminate.
      destruct (server_jobs P X rules _ _ Hm Ec) as [Hsv _].
      pose proof (ok_server P ok Hsv) as [_ [Hq1 [Hq2 [Hq3 [Hq4 Hq5]]]]].
      assert (I : invariant P X (run l) (s_st s)).
      { apply (invariant_run P X ok rules l (s :: r)); [assumption|].
        pose proof (moment_at_step P X rules l s r Hs) as [_ [Hmm _]].
        intros y Hy. split; [apply Hmm; assumption|].
        apply (picks_of_prefix P X l (s :: r) (z - 1) Hs picks); [|assumption].
        intros w Hw. specialize (Hmm w Hw). lia. }
      pose proof (i_spass P X _ _ I) as Hpo. unfold pass_ok in Hpo.
      destruct (s_act s) eqn:Eact; try lia.
      - destruct Hr as [_ [Hr Hl]]. destruct (z_spass (run l)); [|contradiction].
        simpl in *. unfold reads_cost in *. lia.
      - destruct Hr as [_ [Hr Hl]]. destruct (z_spass (run l)); [|contradiction]. simpl in *. lia.
      - destruct Hr as [_ [Hr Hl]]. simpl in *. lia.
    Qed.

    (* What all jobs released since x and due by z may cost, a request's job its price. *)
    Lemma demand_by_price : forall price x, 0 <= x -> x < z -> x <= j_rel (jb j) ->
      (forall m, (m < n)%nat -> is_request X m = true ->
         x <= j_rel (jb m) -> j_due (jb m) <= z ->
         executed z m <= price m /\ (finished steps m z = false -> executed z m < price m)) ->
      1000 * sumn (fun m =>
        if (x <=? j_rel (jb m)) && (j_due (jb m) <=? z) then executed z m else 0) n
      < 1000 * (sumn (fun m => if (x <=? j_rel (jb m)) && (j_due (jb m) <=? z) && is_request X m
                               then price m else 0) n
                + due_passes (p_rs P) (p_g P) (z - x) * Cg)
        + g_us (p_g P) * (z - x).
    Proof.
      intros price x Hx0 Hxz Hxj Hprice.
      set (sel := fun m => (x <=? j_rel (jb m)) && (j_due (jb m) <=? z)).
      set (cost := fun m => match j_class (jb m) with
        Req i => price m | Gc _ => Cg | Srv _ => executed z m | Bg => 0 end).
      assert (Hreq : forall m i, j_class (jb m) = Req i -> is_request X m = true).
      { intros m i Ec. unfold is_request. rewrite Ec. reflexivity. }
      assert (Hstrict : sumn (fun m => if sel m then executed z m else 0) n
        < sumn (fun m => if sel m then cost m else 0) n).
      { apply (sumn_lt n _ _ j).
        - intros m Hm. destruct (sel m) eqn:Es; [|lia]. unfold cost.
          destruct (j_class (jb m)) eqn:Ec.
          + unfold sel in Es. apply andb_true_iff in Es. destruct Es as [E1 E2].
            apply Z.leb_le in E1. apply Z.leb_le in E2.
            apply (Hprice m Hm (Hreq m i Ec) E1 E2).
          + apply (pass_cost_bound P X ok rules z m k Hm Ec picks).
          + lia.
          + pose proof (background P X rules m Hm Ec). unfold sel in Es.
            apply andb_true_iff in Es. destruct Es as [_ Es]. apply Z.leb_le in Es. lia.
        - assumption.
        - assert (Hsj : sel j = true).
          { unfold sel. destruct (Z.leb_spec x (j_rel (jb j))); [|lia].
            destruct (Z.leb_spec (j_due (jb j)) z); [reflexivity|lia]. }
          rewrite Hsj. unfold cost. unfold real_time, is_request, is_gc in j_real.
          destruct (j_class (jb j)) eqn:Ec; try discriminate.
          + apply (Hprice j j_in (Hreq j i Ec) Hxj ltac:(lia)). assumption.
          + apply (pass_cost_bound P X ok rules z j k j_in Ec picks). assumption. }
      assert (Hparts : sumn (fun m => if sel m then cost m else 0) n
        <= sumn (fun m => if sel m && is_request X m then price m else 0) n
           + Cg * countn (fun m => sel m && is_gc X m) n
           + sumn (fun m => if is_srv X m && sel m then executed z m else 0) n).
      { unfold countn. rewrite <- sumn_mul, <- !sumn_add. apply sumn_le. intros m Hm.
        unfold cost, is_request, is_gc, is_srv, ind.
        destruct (j_class (jb m)); destruct (sel m); simpl; lia. }
      pose proof (passes_due P X ok rules z x Hxz) as Hgc.
      change (countn (fun m => sel m && is_gc X m) n <= due_passes (p_rs P) (p_g P) (z - x)) in Hgc.
      pose proof (lemma_11 P X ok rules x z ltac:(lia) picks) as H6.
      change (1000 * sumn (fun m => if is_srv X m && sel m then executed z m else 0) n
        <= g_us (p_g P) * (z - x)) in H6.
      pose proof (ok_collection P ok) as Hg. unfold collection_ok in Hg. fold Cg in Hg.
      change (1000 * sumn (fun m => if sel m then executed z m else 0) n
        < 1000 * (sumn (fun m => if sel m && is_request X m then price m else 0) n
              + due_passes (p_rs P) (p_g P) (z - x) * Cg)
          + g_us (p_g P) * (z - x)).
      assert (Cg * countn (fun m => sel m && is_gc X m) n
        <= Cg * due_passes (p_rs P) (p_g P) (z - x)) by (apply Z.mul_le_mono_nonneg_l; lia).
      lia.
    Qed.

    (* A sum over these jobs of what a job of each request counts, by requests. *)
    Definition due_in (x : Z) (i : nat) : Z :=
      countn (fun m => (x <=? j_rel (jb m)) && (j_due (jb m) <=? z) && is_req X i m) n.

    Lemma by_request : forall x (each : nat -> Z),
      sumn (fun m => if (x <=? j_rel (jb m)) && (j_due (jb m) <=? z) && is_request X m
                     then each (match j_class (jb m) with Req i => i | _ => O end) else 0) n
      <= sumn (fun i => each i * due_in x i) (length (p_rs P)).
    Proof.
      intros x each.
      set (key := fun m => match j_class (jb m) with Req i => i | _ => O end).
      set (sel := fun m => (x <=? j_rel (jb m)) && (j_due (jb m) <=? z)).
      set (sr := fun m => sel m && is_request X m).
      change (sumn (fun m => if sr m then each (key m) else 0) n
        <= sumn (fun i => each i * due_in x i) (length (p_rs P))).
      rewrite (sumn_by_class n (length (p_rs P)) key).
      2:{ intros m Hm Hs. unfold sr, is_request in Hs. unfold key.
          destruct (j_class (jb m)) eqn:E; try (rewrite andb_false_r in Hs; discriminate).
          apply (sporadic P X rules m i Hm E). }
      apply sumn_le. intros i Hi. unfold due_in.
      assert (Hc1 : sumn (fun m => if sr m && Nat.eqb (key m) i then each (key m) else 0) n
        = sumn (fun m => if sel m && is_req X i m then each i else 0) n).
      { apply sumn_ext. intros m Hm. unfold sr, is_request, is_req, key.
        destruct (j_class (jb m)); destruct (sel m); simpl; try reflexivity.
        destruct (Nat.eqb_spec i0 i); [subst; reflexivity|reflexivity]. }
      rewrite Hc1. apply sumn_count_mul. intros. lia.
    Qed.

    (* Lemma 8: a request with a step begun before x of a job due after z, and with d <= L, has no
       job released and due in [x, z]. *)
    Lemma lemma_8_absent : forall x s i, (s_job s < n)%nat -> j_class (jb (s_job s)) = Req i ->
      x < z -> j_rel (jb (s_job s)) < x -> z < j_due (jb (s_job s)) -> due_in x i = 0.
    Proof.
      intros x s i Hm Ec Hxz Hrel Hdue.
      pose proof (sporadic P X rules _ i Hm Ec) as [Hi Hsp].
      assert (Hin : In (rq i) (p_rs P)) by (apply nth_In; assumption).
      pose proof (ok_requests P ok _ Hin) as Hok. unfold request_ok in Hok.
      apply sumn_zero. intros m Hmn. unfold ind.
      destruct ((x <=? j_rel (jb m)) && (j_due (jb m) <=? z) && is_req X i m) eqn:E;
        [exfalso|reflexivity].
      apply andb_true_iff in E. destruct E as [E Hrq]. apply andb_true_iff in E.
      destruct E as [H1 H2]. apply Z.leb_le in H1. apply Z.leb_le in H2.
      unfold is_req in Hrq. destruct (j_class (jb m)) eqn:Ecm; try discriminate.
      apply Nat.eqb_eq in Hrq. subst i0.
      pose proof (sporadic P X rules m i Hmn Ecm) as [_ Hspm].
      destruct (Nat.eq_dec m (s_job s)) as [->|Hne]; [lia|].
      pose proof (period_apart P X rules i m (s_job s) Hmn Hm) as Hap.
      unfold is_req in Hap. rewrite Ecm, Ec in Hap.
      specialize (Hap (Nat.eqb_refl i) (Nat.eqb_refl i) Hne). lia.
    Qed.

    (* The blocking step is in B(L), or, Lemma 8, its request has d <= L and no job in [x, z]. *)
    Lemma blocking_step : forall x l s r, steps = l ++ s :: r -> x < z -> s_st s < x ->
      x < s_en s -> j_rel (jb (s_job s)) < x -> z < j_due (jb (s_job s)) ->
      s_en s - s_st s <= blocking (p_rs P) (p_g P) (z - x) \/
      exists i, j_class (jb (s_job s)) = Req i /\ (i < length (p_rs P))%nat /\
        window (rq i) <= z - x /\ 1 <= s_en s - s_st s <= r_q (rq i) /\ due_in x i = 0.
    Proof.
      intros x l s r Hs Hxz Hst Hen Hrel Hdue. set (L := z - x).
      pose proof (prefix_rule P X rules l s r Hs) as Hr. unfold step_rule in Hr.
      destruct Hr as [Hm [_ [_ [_ [_ [_ [_ Hr]]]]]]].
      destruct (j_class (jb (s_job s))) as [i|g0|j0|] eqn:Ec.
      - destruct Hr as [Hlong _].
        pose proof (sporadic P X rules _ i Hm Ec) as [Hi Hsp].
        assert (Hin : In (rq i) (p_rs P)) by (apply nth_In; assumption).
        pose proof (ok_requests P ok _ Hin) as Hok. unfold request_ok in Hok.
        destruct (Z.lt_ge_cases L (window (rq i))) as [Hw|Hw].
        + (* d > L: in B *)
          left. assert (r_q (rq i) <= blocking (p_rs P) (p_g P) L); [|lia].
          unfold blocking.
          pose proof (maxl_ge (fun r => if L <? window r then r_q r else 0) (p_rs P) (rq i) Hin)
            as Hmx.
          simpl in Hmx. destruct (Z.ltb_spec L (window (rq i))); lia.
        + (* Lemma 8: d <= L, its own jobs are not there *)
          right. exists i. split; [reflexivity|]. split; [assumption|]. split; [assumption|].
          split; [assumption|]. apply (lemma_8_absent x s i Hm Ec); assumption.
      - left. destruct (R1_released P X rules _ g0 Hm Ec) as [Hk0 [Hk1 Hk2]].
        pose proof (collection_step l s r g0 Hs ltac:(lia) Ec) as Hq.
        assert (g_q (p_g P) <= blocking (p_rs P) (p_g P) L); [|lia].
        unfold blocking. destruct (Z.ltb_spec L (g_D (p_g P))) as [_|Hge]; [|unfold L in Hge; lia].
        destruct (writes (p_rs P)) eqn:E; [simpl; lia|exfalso].
        assert (arrived (j_rel (jb (s_job s))) = 0).
        { apply sumn_zero. intros m Hmn. destruct (is_request X m) eqn:Er; simpl; [|reflexivity].
          unfold is_request in Er. destruct (j_class (jb m)) eqn:Ec2; try discriminate.
          pose proof (sporadic P X rules m i Hmn Ec2) as [Hi Hsp].
          assert (Hin : In (rq i) (p_rs P)) by (apply nth_In; assumption).
          rewrite (no_writer (p_rs P) (ok_requests P ok) E (rq i) Hin) in Hsp.
          destruct (j_rel (jb m) <=? j_rel (jb (s_job s))); lia. }
        pose proof (alpha_positive P X ok). nia.
      - left. assert (Hq : s_en s - s_st s <= g_qs (p_g P)).
        { apply (other_step l s r Hs); [|lia]. left. unfold is_srv. rewrite Ec. reflexivity. }
        unfold blocking. lia.
      - left. assert (Hq : s_en s - s_st s <= g_qs (p_g P)).
        { apply (other_step l s r Hs); [|lia]. right. assumption. }
        unfold blocking. lia.
    Qed.

    (* Lemma 4, for one late job: (T) fails. *)
    Theorem late_job_contradicts_T : ~ demand_test (p_rs P) (p_g P).
    Proof.
      intros HT. destruct busy_interval as [x [blk [Hx0 [Hxj [Hxz [Hbusy Hblk]]]]]].
      set (cnt := due_in x).
      assert (Hc1 : forall i, (i < length (p_rs P))%nat -> 0 <= cnt i <= due_jobs (rq i) (z - x)).
      { intros i Hi. split; [apply countn_nonneg|apply (requests_due P X ok rules); assumption]. }
      assert (Hc4 : 1000 * sumn (fun m =>
          if (x <=? j_rel (jb m)) && (j_due (jb m) <=? z) then executed z m else 0) n
        < 1000 * (sumn (fun i => r_C (rq i) * cnt i) (length (p_rs P))
                  + due_passes (p_rs P) (p_g P) (z - x) * Cg)
          + g_us (p_g P) * (z - x)).
      { pose proof (demand_by_price
          (fun m => r_C (rq (match j_class (jb m) with Req i => i | _ => O end))) x Hx0 Hxz Hxj)
          as Hp.
        assert (Hc : forall m, (m < n)%nat -> is_request X m = true ->
          executed z m <= r_C (rq (match j_class (jb m) with Req i => i | _ => O end)) /\
          (finished steps m z = false ->
           executed z m < r_C (rq (match j_class (jb m) with Req i => i | _ => O end)))).
        { intros m Hm Hr. unfold is_request in Hr.
          destruct (j_class (jb m)) as [i| | |] eqn:Ec; try discriminate.
          apply (request_cost P X ok rules z m i Hm Ec). }
        specialize (Hp (fun m Hm Hr _ _ => Hc m Hm Hr)).
        pose proof (by_request x (fun i => r_C (rq i))) as Hb.
        cbv beta in Hp, Hb. unfold cnt. lia. }
      destruct (late_window P X ok rules z j j_in j_real j_due_z) as [d [Hd1 [Hd2 _]]].
      set (L := z - x) in *.
      assert (Hfit : fits (p_rs P) (p_g P) L) by (apply HT; exists d; split; [assumption|unfold L; lia]).
      unfold fits, share in Hfit.
      set (k := length (p_rs P)) in *.
      assert (Hdbf : dbf (p_rs P) (p_g P) L
        = sumn (fun i => due_jobs (rq i) L * r_C (rq i)) k + due_passes (p_rs P) (p_g P) L * Cg).
      { unfold dbf. rewrite (suml_nth _ (Request 0 1 1 0 0 0)). reflexivity. }
      assert (HC : forall i, (i < k)%nat -> 1 <= r_q (rq i) <= r_C (rq i)).
      { intros i Hi. assert (Hin : In (rq i) (p_rs P)) by (apply nth_In; assumption).
        pose proof (ok_requests P ok _ Hin) as Hok. unfold request_ok in Hok. lia. }
      assert (Hle : sumn (fun i => r_C (rq i) * cnt i) k
        <= sumn (fun i => due_jobs (rq i) L * r_C (rq i)) k).
      { apply sumn_le. intros i Hi. specialize (Hc1 i Hi). specialize (HC i Hi).
        rewrite (Z.mul_comm (due_jobs _ _)). apply Z.mul_le_mono_nonneg_l; lia. }
      assert (HB0 : 0 <= blocking (p_rs P) (p_g P) L).
      { unfold blocking. pose proof (maxl_nonneg (fun r => if L <? window r then r_q r else 0) (p_rs P)). lia. }
      assert (Hkey : blk + sumn (fun i => r_C (rq i) * cnt i) k
        <= sumn (fun i => due_jobs (rq i) L * r_C (rq i)) k + blocking (p_rs P) (p_g P) L).
      { destruct Hblk as [->|[l [s [r [Hs [Hst [Hen [Hlen [Hrel Hdue]]]]]]]]]; [lia|].
        destruct (blocking_step x l s r Hs Hxz Hst Hen Hrel Hdue)
          as [Hb|[i [Ec [Hi [Hw [Hlong H0]]]]]]; [fold L in Hb; lia|].
        fold L in Hw. fold (cnt i) in H0. fold k in Hi.
        assert (Hin : In (rq i) (p_rs P)) by (apply nth_In; assumption).
        pose proof (ok_requests P ok _ Hin) as Hok. unfold request_ok in Hok.
        assert (Hsum :
          sumn (fun m => r_C (rq m) * cnt m + (if Nat.eqb m i then r_C (rq i) else 0)) k
          <= sumn (fun i => due_jobs (rq i) L * r_C (rq i)) k).
        { apply sumn_le. intros m Hmk. destruct (Nat.eqb_spec m i) as [->|Hne].
          - rewrite H0. unfold due_jobs. destruct (Z.leb_spec (window (rq i)) L); [|lia].
            assert (0 <= (L - window (rq i)) / r_T (rq i)) by (apply Z.div_pos; lia). nia.
          - specialize (Hc1 m Hmk). specialize (HC m Hmk).
            rewrite (Z.mul_comm (due_jobs _ _)).
            assert (r_C (rq m) * cnt m <= r_C (rq m) * due_jobs (rq m) L)
              by (apply Z.mul_le_mono_nonneg_l; lia). lia. }
        rewrite sumn_add in Hsum.
        rewrite (sumn_single k (fun m => if Nat.eqb m i then r_C (rq i) else 0) i) in Hsum.
        - rewrite Nat.eqb_refl in Hsum. lia.
        - assumption.
        - intros m _ Hne. destruct (Nat.eqb_spec m i); [contradiction|reflexivity]. }
      rewrite Hdbf in Hfit. unfold L in *. lia.
    Qed.
  End Late.

  (* Lemma 4. *)
  Theorem lemma_4 : forall z, z <= x_end X ->
    demand_test (p_rs P) (p_g P) ->
    picks_up_to P X (z - 1) ->            (* no pass begun before z costs more than C_g *)
    forall m, (m < n)%nat -> real_time X m = true -> j_due (jb m) = z ->
    finished steps m z = true.
  Proof.
    intros z Hz HT Hp m Hm Hr Hd. destruct (finished steps m z) eqn:E; [reflexivity|exfalso].
    exact (late_job_contradicts_T z m Hm Hr Hd E Hz Hp HT).
  Qed.
End Edf.
