(* Section 5: Lemma 11. Jobs of the server that arrived in [x, z] and are due by z execute for
   U_s (z - x) at most: by V1 to V3 each costs no more than (31) says, passes included, and the rest is the
   argument for a Total Bandwidth Server. *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Demand Victims Sporadic Trace Reserve Costs.
Import ListNotations.
Open Scope Z_scope.

(* The Total Bandwidth Server by itself: (32), for any costs. *)
Section Tbs.
  Variable a c : nat -> Z.         (* arrivals and costs *)
  Variable d : nat -> Z.           (* deadlines *)
  Variable us : Z.
  Hypothesis us_positive : 0 < us.
  Hypothesis costs : forall j, 0 <= c j.
  Variable number : nat.
  (* (32), or later. *)
  Hypothesis deadlines : forall j, (j < number)%nat ->
    Z.max (a j) (match j with O => 0 | S i => d i end) + cdiv (1000 * c j) us <= d j.

  Lemma tbs_cdiv : forall j, 1000 * c j <= us * cdiv (1000 * c j) us /\ 0 <= cdiv (1000 * c j) us.
  Proof.
    intros j. specialize (costs j). split; [apply cdiv_ge; assumption|].
    apply cdiv_nonneg; [assumption|lia].
  Qed.

  Theorem tbs_demand : forall x z k, (k <= number)%nat -> 0 <= x -> x <= z ->
    1000 * sumn (fun j => if (x <=? a j) && (d j <=? z) then c j else 0) k <= us * (z - x).
  Proof.
    intros x z k Hnum Hx Hxz.
    assert (H : 1000 * sumn (fun j => if (x <=? a j) && (d j <=? z) then c j else 0) k
      <= us * Z.max 0 (Z.min z (match k with O => 0 | S i => d i end) - x)).
    { induction k as [|k IH]; [simpl; nia|]. cbn [sumn]. specialize (IH ltac:(lia)).
      change (match S k with O => 0 | S i => d i end) with (d k).
      pose proof (tbs_cdiv k) as [H1 H2]. pose proof (deadlines k ltac:(lia)) as H3.
      set (q := cdiv (1000 * c k) us) in *. set (before := match k with O => 0 | S i => d i end) in *.
      destruct (Z.leb_spec x (a k)); destruct (Z.leb_spec (d k) z); cbn [andb].
      - assert (us * (Z.max 0 (Z.min z before - x) + q) <= us * Z.max 0 (Z.min z (d k) - x)).
        { apply Z.mul_le_mono_nonneg_l; lia. }
        rewrite Z.mul_add_distr_l in H4. lia.
      - assert (us * Z.max 0 (Z.min z before - x) <= us * Z.max 0 (Z.min z (d k) - x))
          by (apply Z.mul_le_mono_nonneg_l; lia). lia.
      - assert (us * Z.max 0 (Z.min z before - x) <= us * Z.max 0 (Z.min z (d k) - x))
          by (apply Z.mul_le_mono_nonneg_l; lia). lia.
      - assert (us * Z.max 0 (Z.min z before - x) <= us * Z.max 0 (Z.min z (d k) - x))
          by (apply Z.mul_le_mono_nonneg_l; lia). lia. }
    assert (us * Z.max 0 (Z.min z (match k with O => 0 | S i => d i end) - x) <= us * (z - x))
      by (apply Z.mul_le_mono_nonneg_l; lia).
    lia.
  Qed.
End Tbs.

Section Server.
  Variable P : processor.
  Variable X : trace.
  Hypothesis ok : parameters_ok P.
  Hypothesis rules : obeys P X.

  Let n := length (x_jobs X).
  Let alpha := g_alpha (p_g P).
  Let Cg := g_C (p_g P).
  Notation jb := (jb X).
  Notation run := (run P X).
  Notation steps := (x_steps X).
  Notation before := (pages_before P).
  Notation sj := (sj P).

  Lemma served_nonneg : forall j, 0 <= sv_a (sj j) /\ 0 <= sv_r (sj j) /\ 0 <= sv_w (sj j).
  Proof.
    intros j. unfold Trace.sj.
    destruct (nth_in_or_default j (p_served P) (Served 0 0 0 0)) as [H| ->]; [|simpl; lia].
    apply (ok_served P ok _ H).
  Qed.

  Lemma before_succ : forall j, before (S j) = before j + sv_w (sj j).
  Proof. reflexivity. Qed.

  Lemma before_mono : forall i j, (i <= j)%nat -> before i <= before j.
  Proof.
    intros i j H. induction H; [lia|]. rewrite before_succ. pose proof (served_nonneg m). lia.
  Qed.

  Lemma before_nonneg : forall j, 0 <= before j.
  Proof. intros j. apply (before_mono 0 j). lia. Qed.

  Definition server_time (a : action) : Z :=
    match a with ARead => p_sr P | AProg _ => p_sw P | _ => pass_step_time P a end.

  Definition rows (l : list step) (m : nat) : Z :=
    suml (fun s => ind (Nat.eqb (s_job s) m && is_prog (s_act s))) l.

  Definition clamp (lo hi x : Z) : Z := Z.max lo (Z.min hi x).

  (* A server's job: its reads, its rows, and its passes so far. *)
  Definition passes_so_far (l : list step) (j m : nat) : Prop :=
    let lo := before j / alpha in
    let hi := before (S j) / alpha in
    let z := run l in
    (z_S z < lo -> pass_cost P l m = 0) /\
    (lo <= z_S z < hi -> pass_cost P l m <= Cg * (z_S z - lo)
       + match z_spass z with Some q => pass_so_far P q | None => 0 end) /\
    (hi <= z_S z -> pass_cost P l m <= Cg * (hi - lo)).

  Definition rows_so_far (l : list step) (j m : nat) : Prop :=
    let w := sv_w (sj j) in
    let done := clamp 0 w (z_n (run l) - before j) in
    rows l m = cdiv done (p_s P) /\ (done = w \/ exists k, done = p_s P * k).

  Lemma pass_cost_nonneg : 0 <= Cg.
  Proof. pose proof (ok_collection P ok) as H. unfold collection_ok in H. fold Cg in H. lia. Qed.

  Lemma cdiv_more : forall d k s, 1 <= s -> 1 <= k <= s -> (exists q, d = s * q) ->
    cdiv (d + k) s = cdiv d s + 1.
  Proof.
    intros d k s Hs Hk [q ->]. unfold cdiv.
    replace (s * q + k + s - 1) with (k + s - 1 + q * s) by lia.
    replace (s * q + s - 1) with (s - 1 + q * s) by lia.
    rewrite !Z.div_add by lia. rewrite (Z.div_small (s - 1) s) by lia.
    replace (k + s - 1) with (k - 1 + 1 * s) by lia. rewrite Z.div_add by lia.
    rewrite Z.div_small by lia. lia.
  Qed.

  Lemma owner_range : forall j k, before j < alpha * (k + 1) <= before (S j) ->
    before j / alpha <= k < before (S j) / alpha.
  Proof.
    intros j k H. pose proof (alpha_positive P X ok) as Ha. fold alpha in Ha. split.
    - assert (before j / alpha < k + 1); [|lia]. apply Z.div_lt_upper_bound; lia.
    - assert (k + 1 <= before (S j) / alpha); [|lia]. apply Z.div_le_lower_bound; lia.
  Qed.

  Lemma other_owner : forall i j k, i <> j ->
    before i / alpha <= k < before (S i) / alpha ->
    k < before j / alpha \/ before (S j) / alpha <= k.
  Proof.
    intros i j k Hne H. pose proof (alpha_positive P X ok) as Ha. fold alpha in Ha.
    destruct (Nat.lt_ge_cases i j).
    - left. assert (before (S i) / alpha <= before j / alpha); [|lia].
      apply Z.div_le_mono; [lia|]. apply before_mono. lia.
    - right. assert (before (S j) / alpha <= before i / alpha); [|lia].
      apply Z.div_le_mono; [lia|]. apply before_mono. lia.
  Qed.

  Lemma rows_snoc : forall l s m, rows (l ++ [s]) m =
    rows l m + ind (Nat.eqb (s_job s) m && is_prog (s_act s)).
  Proof. intros. unfold rows. rewrite suml_app. simpl. lia. Qed.

  Lemma reads_snoc : forall l s m, reads (l ++ [s]) m =
    reads l m + ind (Nat.eqb (s_job s) m && is_read (s_act s)).
  Proof. intros. unfold reads. rewrite suml_app. simpl. lia. Qed.

  Lemma n_of_step : forall z s, z_n (finish P X (begin X z s) s) = z_n z +
    (if is_srv X (s_job s) && is_prog (s_act s) then drawn s else 0).
  Proof.
    intros z s. unfold finish, begin, is_srv.
    destruct (j_class (jb (s_job s))); destruct (s_act s); simpl; lia.
  Qed.

  Lemma S_of_step : forall z s, z_S (finish P X (begin X z s) s) = z_S z +
    (if is_srv X (s_job s) then match s_act s with AVoid | AErase => 1 | _ => 0 end else 0).
  Proof.
    intros z s. unfold finish, begin, is_srv.
    destruct (j_class (jb (s_job s))); destruct (s_act s); simpl; lia.
  Qed.

  Lemma spass_of_step : forall z s, z_spass (finish P X (begin X z s) s) =
    if is_srv X (s_job s)
    then match s_act s with AErase => None | a => pass_begins a (z_spass z) end
    else z_spass z.
  Proof.
    intros z s. unfold finish, begin, is_srv.
    destruct (j_class (jb (s_job s))); destruct (s_act s); simpl; reflexivity.
  Qed.

  Lemma served_so_far : forall l r m j, steps = l ++ r -> (m < n)%nat ->
    j_class (jb m) = Srv j -> (forall s, In s l -> pick_ok P s) ->
    (match z_spass (run l) with Some q => pass_within P q | None => True end) /\
    (forall s, In s l -> s_job s = m -> s_en s - s_st s <= server_time (s_act s)) /\
    reads l m <= sv_r (sj j) /\ rows_so_far l j m /\ passes_so_far l j m.
  Proof.
    induction l as [|s l IH] using rev_ind; intros r m j Hs Hm Hc Hp.
    - pose proof (alpha_positive P X ok) as Ha. fold alpha in Ha.
      pose proof (before_nonneg j) as Hb. pose proof (served_nonneg j) as Hw.
      pose proof (ok_sizes P ok) as Hsz. pose proof pass_cost_nonneg as HC.
      pose proof (before_mono j (S j) ltac:(lia)) as Hbm.
      assert (0 <= before j / alpha) by (apply Z.div_pos; lia).
      assert (before j / alpha <= before (S j) / alpha) by (apply Z.div_le_mono; lia).
      split; [exact I|]. split; [intros s []|]. split; [unfold reads; simpl; lia|]. split.
      + unfold rows_so_far. simpl. unfold clamp.
        replace (Z.max 0 (Z.min (sv_w (sj j)) (0 - before j))) with 0 by lia.
        split; [unfold cdiv, rows; simpl; symmetry; apply Z.div_small; lia|].
        right. exists 0. lia.
      + unfold passes_so_far, pass_cost. simpl. split; [reflexivity|]. split; [|nia].
        intros Hlo. assert (before j / alpha = 0) by lia. nia.
    - assert (Hs' : steps = l ++ s :: r) by (rewrite Hs, <- app_assoc; reflexivity).
      assert (Hp' : forall x, In x l -> pick_ok P x)
        by (intros x Hx; apply Hp; apply in_or_app; left; assumption).
      assert (Hps : pick_ok P s) by (apply Hp; apply in_or_app; right; left; reflexivity).
      destruct (IH (s :: r) m j Hs' Hm Hc Hp') as [Hw [Hlen [Hrd [[Hrow1 Hrow2] [Hpc1 [Hpc2 Hpc3]]]]]].
      clear IH.
      pose proof (prefix_rule P X rules l s r Hs') as Hr. unfold step_rule in Hr.
      destruct Hr as [Hsn [_ [_ [_ [_ [_ [_ Hr]]]]]]].
      pose proof (ok_sizes P ok) as Hsz. pose proof pass_cost_nonneg as HC.
      assert (Hlen' : (s_job s = m -> s_en s - s_st s <= server_time (s_act s)) ->
        forall x, In x (l ++ [s]) -> s_job x = m -> s_en x - s_st x <= server_time (s_act x)).
      { intros Hls x Hx Hxm. apply in_app_or in Hx. destruct Hx as [Hx|[<-|[]]]; auto. }
      unfold rows_so_far, passes_so_far in *.
      rewrite run_snoc, n_of_step, S_of_step, spass_of_step, rows_snoc, reads_snoc, (pass_cost_snoc P X).
      destruct (is_srv X (s_job s)) eqn:Esrv.
      2:{ assert (Hne : Nat.eqb (s_job s) m = false).
          { apply Nat.eqb_neq. intros He. unfold is_srv in Esrv. rewrite He, Hc in Esrv. discriminate. }
          rewrite Hne. simpl. rewrite !Z.add_0_r.
          split; [assumption|]. split.
          { apply Hlen'. intros Heq. apply Nat.eqb_neq in Hne. contradiction. }
          split; [assumption|]. split; [split; assumption|]. split; [assumption|]. split; assumption. }
      unfold is_srv in Esrv. destruct (j_class (jb (s_job s))) as [| |i|] eqn:Ec; try discriminate.
      clear Esrv.
      destruct (Nat.eq_dec (s_job s) m) as [Heq|Hne].
      + (* the job's own step *)
        rewrite Heq in *. rewrite Nat.eqb_refl.
        assert (i = j) by congruence. subst i. cbn [andb].
        destruct (s_act s) as [|k|val|k|k| |] eqn:Eact; cbn [is_prog is_read ind pass_step_time pass_begins];
          rewrite ?Z.add_0_r.
        * destruct Hr as [Hr1 Hr2]. split; [assumption|]. split; [apply Hlen'; simpl; lia|].
          split; [lia|]. split; [split; assumption|]. split; [assumption|]. split; assumption.
        * destruct Hr as [Hr1 [Hr2 [Hr3 [Hr4 [Hr5 [Hr6 Hr7]]]]]].
          split; [assumption|]. split; [apply Hlen'; simpl; lia|]. split; [lia|].
          split; [|split; [assumption|split; assumption]].
          unfold drawn. rewrite Eact. rewrite before_succ in Hr2, Hr4.
          set (w := sv_w (sj j)) in *. set (x := z_n (run l) - before j) in *.
          assert (Hcl : clamp 0 w x = x) by (unfold clamp, x; lia).
          assert (Hcl' : clamp 0 w (z_n (run l) + k - before j) = x + k) by (unfold clamp, x; lia).
          rewrite Hcl in *. rewrite Hcl'.
          assert (Hdiv : exists q, x = p_s P * q).
          { destruct Hrow2 as [Hx|Hx]; [unfold x in Hx; lia|assumption]. }
          split.
          -- rewrite cdiv_more by (try assumption; lia). lia.
          -- destruct (Z.eq_dec (x + k) w) as [|Hnw]; [left; assumption|right].
             assert (k = p_s P) by (unfold x in *; lia). destruct Hdiv as [q Hq].
             exists (q + 1). lia.
        * destruct Hr as [Hr1 [Hr2 [Hr3 [_ [Hr4 Hv]]]]].
          pose proof (victim_nonneg P X _ _ _ Hv). pose proof (Hps val Eact).
          assert (0 <= cdiv val (p_s P)) by (apply cdiv_nonneg; lia).
          rewrite Hr2 in *.
          split; [unfold pass_within; simpl; lia|]. split; [apply Hlen'; simpl; lia|].
          split; [lia|]. split; [split; assumption|]. pose proof (pass_so_far_0 P val).
          split; [assumption|]. split; [intros Hrg; specialize (Hpc2 Hrg); lia|assumption].
        * destruct Hr as [Hr1 [HR Hlg]]. pose proof (owner_range j (z_S (run l)) Hr1) as Ho.
          destruct (pass_within_begins P X _ _ HR ltac:(discriminate) Hw) as [q [q' [Hq [Hq' [Hwq Hcq]]]]].
          rewrite Hq in *. cbn [pass_begins] in Hq'. injection Hq' as Hq'. subst q'.
          split; [assumption|]. split; [apply Hlen'; simpl; simpl in Hlg; lia|].
          split; [lia|]. split; [split; assumption|].
          cbn [pass_step_time] in Hcq. split; [lia|]. split; [|lia].
          intros Hrg. specialize (Hpc2 Hrg). lia.
        * destruct Hr as [Hr1 [HR Hlg]]. pose proof (owner_range j (z_S (run l)) Hr1) as Ho.
          destruct (pass_within_begins P X _ _ HR ltac:(discriminate) Hw) as [q [q' [Hq [Hq' [Hwq Hcq]]]]].
          rewrite Hq in *. cbn [pass_begins] in Hq'. injection Hq' as Hq'. subst q'.
          split; [assumption|]. split; [apply Hlen'; simpl; simpl in Hlg; lia|].
          split; [lia|]. split; [split; assumption|].
          cbn [pass_step_time] in Hcq. split; [lia|]. split; [|lia].
          intros Hrg. specialize (Hpc2 Hrg). lia.
        * destruct Hr as [Hr1 [HR Hlg]]. pose proof (owner_range j (z_S (run l)) Hr1) as Ho.
          destruct (z_spass (run l)) as [q|] eqn:Eq; [|contradiction].
          pose proof (pass_within_cost P X ok q Hw) as Hq. fold Cg in Hq.
          split; [exact I|]. split; [apply Hlen'; simpl; simpl in Hlg; lia|].
          split; [lia|]. split; [split; assumption|].
          specialize (Hpc2 Ho). split; [lia|]. split; [intros; lia|].
          intros Hhi. assert (before (S j) / alpha = z_S (run l) + 1) by lia. nia.
        * destruct Hr as [Hr1 [Hr2 [Hr3 [_ Hlg]]]]. pose proof (owner_range j (z_S (run l)) Hr1) as Ho.
          rewrite Hr2 in *. split; [exact I|]. split; [apply Hlen'; simpl; lia|].
          split; [lia|]. split; [split; assumption|].
          specialize (Hpc2 Ho). split; [lia|]. split; [intros; lia|].
          intros Hhi. assert (before (S j) / alpha = z_S (run l) + 1) by lia. nia.
      + (* a step of another of its jobs *)
        assert (Hij : i <> j).
        { intros ->. apply Hne. apply (server_once P X rules _ _ j); assumption. }
        replace (Nat.eqb (s_job s) m) with false by (symmetry; apply Nat.eqb_neq; assumption).
        cbn [andb ind]. rewrite !Z.add_0_r.
        assert (Hl2 : forall x, In x (l ++ [s]) -> s_job x = m -> s_en x - s_st x <= server_time (s_act x))
          by (apply Hlen'; intros; contradiction).
        destruct (s_act s) as [|k|val|k|k| |] eqn:Eact; cbn [is_prog pass_begins]; rewrite ?Z.add_0_r.
        * split; [assumption|]. split; [assumption|]. split; [lia|]. split; [split; assumption|].
          split; [assumption|]. split; assumption.
        * destruct Hr as [Hr1 [Hr2 [Hr3 _]]].
          split; [assumption|]. split; [assumption|]. split; [lia|].
          split; [|split; [assumption|split; assumption]].
          unfold drawn. rewrite Eact.
          assert (Hcl : clamp 0 (sv_w (sj j)) (z_n (run l) + k - before j)
            = clamp 0 (sv_w (sj j)) (z_n (run l) - before j)).
          { pose proof (served_nonneg j) as Hwj. unfold clamp.
            destruct (Nat.lt_ge_cases i j) as [Hlt|Hge].
            - pose proof (before_mono (S i) j ltac:(lia)). lia.
            - pose proof (before_mono (S j) i ltac:(lia)) as Hb. rewrite before_succ in Hb. lia. }
          rewrite Hcl. split; assumption.
        * destruct Hr as [Hr1 [Hr2 [Hr3 [_ [Hr4 Hv]]]]].
          pose proof (owner_range i (z_S (run l)) Hr1) as Ho.
          destruct (other_owner i j _ Hij Ho) as [Hx|Hx].
          -- pose proof (victim_nonneg P X _ _ _ Hv). pose proof (Hps val Eact).
             assert (0 <= cdiv val (p_s P)) by (apply cdiv_nonneg; lia).
             split; [unfold pass_within; simpl; lia|]. split; [assumption|]. split; [lia|].
             split; [split; assumption|]. split; [assumption|]. split; [lia|assumption].
          -- pose proof (victim_nonneg P X _ _ _ Hv). pose proof (Hps val Eact).
             assert (0 <= cdiv val (p_s P)) by (apply cdiv_nonneg; lia).
             split; [unfold pass_within; simpl; lia|]. split; [assumption|]. split; [lia|].
             split; [split; assumption|]. split; [assumption|]. split; [lia|assumption].
        * destruct Hr as [Hr1 [HR Hlg]]. pose proof (owner_range i (z_S (run l)) Hr1) as Ho.
          destruct (pass_within_begins P X _ _ HR ltac:(discriminate) Hw) as [q [q' [Hq [Hq' [Hwq Hcq]]]]].
          rewrite Hq in *. cbn [pass_begins] in Hq'. injection Hq' as Hq'. subst q'.
          split; [assumption|]. split; [assumption|]. split; [lia|]. split; [split; assumption|].
          destruct (other_owner i j _ Hij Ho); split; try assumption; split; try assumption; lia.
        * destruct Hr as [Hr1 [HR Hlg]]. pose proof (owner_range i (z_S (run l)) Hr1) as Ho.
          destruct (pass_within_begins P X _ _ HR ltac:(discriminate) Hw) as [q [q' [Hq [Hq' [Hwq Hcq]]]]].
          rewrite Hq in *. cbn [pass_begins] in Hq'. injection Hq' as Hq'. subst q'.
          split; [assumption|]. split; [assumption|]. split; [lia|]. split; [split; assumption|].
          destruct (other_owner i j _ Hij Ho); split; try assumption; split; try assumption; lia.
        * destruct Hr as [Hr1 _]. pose proof (owner_range i (z_S (run l)) Hr1) as Ho.
          split; [exact I|]. split; [assumption|]. split; [lia|]. split; [split; assumption|].
          pose proof (before_mono j (S j) ltac:(lia)) as Hbm.
          pose proof (alpha_positive P X ok) as Ha. fold alpha in Ha.
          assert (before j / alpha <= before (S j) / alpha) by (apply Z.div_le_mono; lia).
          destruct (other_owner i j _ Hij Ho) as [Hx|Hx].
          -- specialize (Hpc1 Hx). rewrite Hpc1. split; [lia|]. split; nia.
          -- specialize (Hpc3 Hx). split; [lia|]. split; [lia|intros; assumption].
        * destruct Hr as [Hr1 [Hr2 _]]. pose proof (owner_range i (z_S (run l)) Hr1) as Ho.
          rewrite Hr2. split; [exact I|]. split; [assumption|]. split; [lia|]. split; [split; assumption|].
          pose proof (before_mono j (S j) ltac:(lia)) as Hbm.
          pose proof (alpha_positive P X ok) as Ha. fold alpha in Ha.
          assert (before j / alpha <= before (S j) / alpha) by (apply Z.div_le_mono; lia).
          destruct (other_owner i j _ Hij Ho) as [Hx|Hx].
          -- specialize (Hpc1 Hx). rewrite Hpc1. split; [lia|]. split; nia.
          -- specialize (Hpc3 Hx). split; [lia|]. split; [lia|intros; assumption].
  Qed.

  (* (31) bounds what a job of the server executes, its passes included. *)
  Theorem served_cost_bound : forall z m j, (m < n)%nat -> j_class (jb m) = Srv j ->
    picks_up_to P X (z - 1) -> executed X z m <= served_cost P j.
  Proof.
    intros z m j Hm Hc Hpk. destruct (executed_prefix P X rules z m) as [l [r [Hs [Hl ->]]]].
    assert (Hp : forall s, In s l -> pick_ok P s).
    { apply (picks_of_prefix P X l r (z - 1) Hs Hpk). intros s Hx. specialize (Hl s Hx). lia. }
    destruct (served_so_far l r m j Hs Hm Hc Hp) as [Hw [Hlen [Hrd [[Hrow1 _] [Hpc1 [Hpc2 Hpc3]]]]]].
    pose proof (ok_sizes P ok) as Hsz. pose proof (ok_times P ok) as Ht.
    pose proof pass_cost_nonneg as HC. pose proof (served_nonneg j) as Hn.
    assert (Hsum : suml (fun s => if Nat.eqb (s_job s) m then Z.min (s_en s) z - s_st s else 0) l
      <= p_sr P * reads l m + p_sw P * rows l m + pass_cost P l m).
    { clear - Hlen. unfold reads, rows, pass_cost. induction l as [|a l IH]; [simpl; lia|]. rewrite !suml_cons.
      assert (IH' : suml (fun s => if Nat.eqb (s_job s) m then Z.min (s_en s) z - s_st s else 0) l
        <= p_sr P * suml (fun s => ind (Nat.eqb (s_job s) m && is_read (s_act s))) l
         + p_sw P * suml (fun s => ind (Nat.eqb (s_job s) m && is_prog (s_act s))) l
         + suml (fun s => if Nat.eqb (s_job s) m then pass_step_time P (s_act s) else 0) l).
      { apply IH. intros s Hx. apply Hlen. right. assumption. }
      destruct (Nat.eqb_spec (s_job a) m) as [He|]; cbn [andb]; [|change (ind false) with 0; lia].
      pose proof (Hlen a (or_introl eq_refl) He) as Ha. unfold server_time in Ha.
      destruct (s_act a); cbn [is_read is_prog ind pass_step_time] in *; lia. }
    unfold served_cost, passes_of. fold alpha Cg.
    assert (H1 : p_sr P * reads l m <= sv_r (sj j) * p_sr P) by nia.
    assert (H2 : p_sw P * rows l m <= cdiv (sv_w (sj j)) (p_s P) * p_sw P).
    { rewrite Hrow1. assert (cdiv (clamp 0 (sv_w (sj j)) (z_n (run l) - before j)) (p_s P)
        <= cdiv (sv_w (sj j)) (p_s P)) by (apply cdiv_mono; unfold clamp; lia). nia. }
    assert (H3 : pass_cost P l m <= (before (S j) / alpha - before j / alpha) * Cg).
    { pose proof (before_mono j (S j) ltac:(lia)) as Hbm.
      pose proof (alpha_positive P X ok) as Ha. fold alpha in Ha.
      assert (before j / alpha <= before (S j) / alpha) by (apply Z.div_le_mono; lia).
      destruct (Z.lt_ge_cases (z_S (run l)) (before j / alpha)) as [Hx|Hx].
      - rewrite (Hpc1 Hx). nia.
      - destruct (Z.lt_ge_cases (z_S (run l)) (before (S j) / alpha)) as [Hy|Hy].
        + specialize (Hpc2 (conj Hx Hy)).
          assert (match z_spass (run l) with Some q => pass_so_far P q | None => 0 end <= Cg).
          { destruct (z_spass (run l)) as [q|]; [|lia]. pose proof (pass_within_cost P X ok q Hw) as Hq.
            fold Cg in Hq. lia. }
          nia.
        + specialize (Hpc3 Hy). lia. }
    lia.
  Qed.

  Lemma served_cost_nonneg : forall j, 0 <= served_cost P j.
  Proof.
    intros j. unfold served_cost, passes_of. fold alpha Cg.
    pose proof (served_nonneg j) as Hn. pose proof (ok_times P ok) as Ht.
    pose proof (ok_sizes P ok) as Hsz. pose proof pass_cost_nonneg as HC.
    pose proof (before_mono j (S j) ltac:(lia)) as Hbm.
    pose proof (alpha_positive P X ok) as Ha. fold alpha in Ha.
    assert (before j / alpha <= before (S j) / alpha) by (apply Z.div_le_mono; lia).
    assert (0 <= cdiv (sv_w (sj j)) (p_s P)) by (apply cdiv_nonneg; lia).
    assert (0 <= sv_r (sj j) * p_sr P) by nia.
    assert (0 <= cdiv (sv_w (sj j)) (p_s P) * p_sw P) by nia. nia.
  Qed.

  (* Lemma 11. *)
  Theorem lemma_11 : forall x z, 0 <= x <= z ->
    picks_up_to P X (z - 1) ->
    1000 * sumn (fun m => if is_srv X m && ((x <=? j_rel (jb m)) && (j_due (jb m) <=? z))
                          then executed X z m else 0) n
    <= g_us (p_g P) * (z - x).
  Proof.
    intros x z Hxz Hpk.
    set (sel := fun m => is_srv X m && ((x <=? j_rel (jb m)) && (j_due (jb m) <=? z))).
    destruct (existsb (fun m => is_srv X m) (seq 0 n)) eqn:Eany.
    - assert (Hus : 0 < g_us (p_g P)).
      { apply existsb_exists in Eany. destruct Eany as [m [Hm Hsm]]. apply in_seq in Hm.
        unfold is_srv in Hsm. destruct (j_class (jb m)) eqn:E; try discriminate.
        destruct (server_jobs P X rules m j ltac:(unfold n in *; lia) E) as [Hsv _].
        apply (ok_server P ok Hsv). }
      set (k := length (p_served P)).
      pose proof (tbs_demand (fun j => sv_a (sj j)) (served_cost P) (served_due P) (g_us (p_g P)) Hus
        served_cost_nonneg) as Ht.
      specialize (Ht k (fun j Hj => server_deadlines P X rules j Hj) x z k ltac:(lia) ltac:(lia)
        ltac:(lia)). cbv beta in Ht.
      assert (Hsum : sumn (fun m => if sel m then executed X z m else 0) n
        <= sumn (fun j => if (x <=? sv_a (sj j)) && (served_due P j <=? z) then served_cost P j else 0) k).
      { rewrite (sumn_by_class n k (srv_number X)).
        2:{ intros m Hm Hsm. unfold sel, is_srv in Hsm. unfold srv_number.
            destruct (j_class (jb m)) eqn:E; try discriminate.
            apply (server_jobs P X rules m j Hm E). }
        apply sumn_le. intros j Hj.
        set (own := fun m => sel m && Nat.eqb (srv_number X m) j).
        assert (Hown : forall m, (m < n)%nat -> own m = true ->
          j_class (jb m) = Srv j /\ x <= sv_a (sj j) /\ served_due P j <= z).
        { intros m Hm Ho. unfold own, sel, is_srv, srv_number in Ho.
          destruct (j_class (jb m)) eqn:E; simpl in Ho; try discriminate.
          apply andb_true_iff in Ho. destruct Ho as [Ho1 Ho2]. apply Nat.eqb_eq in Ho2. subst j0.
          apply andb_true_iff in Ho1. destruct Ho1 as [Ho1 Ho3].
          apply Z.leb_le in Ho1. apply Z.leb_le in Ho3.
          destruct (server_jobs P X rules m j Hm E) as [_ [_ [Hr Hd]]]. split; [reflexivity|].
          rewrite <- Hr, <- Hd. auto. }
        assert (Hone : countn own n <= 1).
        { apply countn_le_one. intros m r Hm Hr Hom Hor.
          destruct (Hown m Hm Hom) as [E1 _]. destruct (Hown r Hr Hor) as [E2 _].
          apply (server_once P X rules m r j); assumption. }
        assert (Hle : sumn (fun m => if own m then executed X z m else 0) n
          <= served_cost P j * countn own n).
        { apply sumn_count_mul. intros m Hm Ho. destruct (Hown m Hm Ho) as [E1 _].
          apply (served_cost_bound z m j Hm E1 Hpk). }
        change (sumn (fun m => if sel m && Nat.eqb (srv_number X m) j then executed X z m else 0) n)
          with (sumn (fun m => if own m then executed X z m else 0) n).
        pose proof (served_cost_nonneg j) as Hc0.
        destruct ((x <=? sv_a (sj j)) && (served_due P j <=? z)) eqn:Esel; [nia|].
        assert (countn own n = 0); [|nia].
        apply sumn_zero. intros m Hm. unfold ind. destruct (own m) eqn:Eo; [exfalso|reflexivity].
        destruct (Hown m Hm Eo) as [_ [Hx1 Hx2]].
        destruct (Z.leb_spec x (sv_a (sj j))); [|lia].
        destruct (Z.leb_spec (served_due P j) z); [discriminate|lia]. }
      change (1000 * sumn (fun m => if sel m then executed X z m else 0) n <= g_us (p_g P) * (z - x)).
      lia.
    - change (1000 * sumn (fun m => if sel m then executed X z m else 0) n <= g_us (p_g P) * (z - x)).
      rewrite sumn_zero.
      + pose proof (ok_collection P ok) as Hg. unfold collection_ok in Hg. nia.
      + intros m Hm. unfold sel. destruct (is_srv X m) eqn:E; [exfalso|reflexivity].
        assert (existsb (fun m => is_srv X m) (seq 0 n) = true); [|congruence].
        apply existsb_exists. exists m. split; [apply in_seq; lia|assumption].
  Qed.
End Server.
