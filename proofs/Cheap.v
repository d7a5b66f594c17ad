(* Section 2.7: the cheap sufficient test (19), exactly. For each relative deadline d, U_d and K_d are
   of what has a relative deadline up to d. *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Qpa Demand.
Import ListNotations.
Open Scope Z_scope.

Definition up_to (d : Z) (rs : list request) : list request :=
  filter (fun r => window r <=? d) rs.

(* U_d and K_d over a common denominator. *)
Definition line_up_to (rs : list request) (g : collection) (d : Z) : line :=
  if writes rs && (g_D g <=? d) then line_add (lines request_line (up_to d rs)) (passes_line rs g)
  else lines request_line (up_to d rs).

(* (19) at d: U_d + (max(0, K_d) + B(d)) / d <= 1 - U_s. *)
Definition cheap_at (rs : list request) (g : collection) (d : Z) : bool :=
  let l := line_up_to rs g d in
  1000 * (l_u l * d + Z.max 0 (l_k l) + blocking rs g d * l_den l) <=? share g * l_den l * d.

Definition cheap_test (rs : list request) (g : collection) : bool :=
  forallb (cheap_at rs g) (deadlines rs g).

Section Cheap.
  Variable rs : list request.
  Variable g : collection.
  Hypothesis requests : forall r, In r rs -> request_ok r.
  Hypothesis gc : collection_ok g.

  Lemma suml_filter : forall (p : request -> bool) (f : request -> Z) l,
    (forall r, In r l -> p r = false -> f r = 0) -> suml f l = suml f (filter p l).
  Proof.
    induction l as [|a l IH]; intros H; [reflexivity|]. cbn [filter]. rewrite suml_cons.
    destruct (p a) eqn:E.
    - rewrite suml_cons, IH; [reflexivity|]. intros r Hr. apply H. right. assumption.
    - rewrite (H a (or_introl eq_refl) E), IH; [lia|]. intros r Hr. apply H. right. assumption.
  Qed.

  Lemma demand_below_line_up_to : forall d L, d <= L ->
    (forall z, In z (deadlines rs g) -> ~ (d < z <= L)) ->
    below_line (dbf rs g L) L (line_up_to rs g d).
  Proof.
    intros d L HdL Hno. unfold dbf, line_up_to.
    assert (Hwin : forall r, In r rs -> ~ (d < window r <= L)).
    { intros r Hr. apply Hno. unfold deadlines. apply in_or_app. left. apply in_map. assumption. }
    assert (HR : below_line (suml (fun r => due_jobs r L * r_C r) rs) L
      (lines request_line (up_to d rs))).
    { rewrite (suml_filter (fun r => window r <=? d)).
      - apply lines_below. intros r Hr. apply filter_In in Hr. destruct Hr as [Hr Hw].
        apply Z.leb_le in Hw. apply (request_below rs requests); [assumption|lia].
      - intros r Hr Hw. apply Z.leb_gt in Hw. specialize (Hwin r Hr).
        unfold due_jobs. destruct (Z.leb_spec (window r) L); lia. }
    destruct (writes rs && (g_D g <=? d)) eqn:E.
    - apply andb_true_iff in E. destruct E as [_ E]. apply Z.leb_le in E.
      apply line_add_below; [assumption|]. apply (passes_below rs g requests gc). lia.
    - assert (Hz : due_passes rs g L = 0).
      { unfold due_passes. destruct (Z.leb_spec (g_D g) L) as [HL|]; [|reflexivity].
        destruct (writes rs) eqn:Ew.
        - simpl in E. apply Z.leb_gt in E. exfalso. apply (Hno (g_D g)); [|lia].
          unfold deadlines. apply in_or_app. right. rewrite Ew. left. reflexivity.
        - unfold arriving. rewrite suml_zero.
          + unfold cdiv, collection_ok in *. apply Z.div_small. lia.
          + intros r Hr. rewrite (no_writer rs requests Ew r Hr). lia. }
      rewrite Hz, Z.mul_0_l, Z.add_0_r. assumption.
  Qed.

  (* If (19) holds for every d, (T) does. *)
  Theorem cheap_test_suffices : cheap_test rs g = true -> demand_test rs g.
  Proof.
    intros H L [x [Hx HxL]]. unfold cheap_test in H. rewrite forallb_forall in H.
    destruct (greatest_below _ _ _ Hx HxL) as [d [Hd [HdL Hg]]].
    assert (Hno : forall z, In z (deadlines rs g) -> ~ (d < z <= L)).
    { intros z Hz Hc. specialize (Hg z Hz ltac:(lia)). lia. }
    pose proof (demand_below_line_up_to d L HdL Hno) as Hb.
    specialize (H d Hd). unfold cheap_at in H. apply Z.leb_le in H.
    pose proof (deadlines_positive rs g requests gc d Hd) as Hd1.
    unfold fits. rewrite <- (blocking_constant rs g d L HdL Hno).
    destruct (line_up_to rs g d) as [u k n]. unfold below_line in Hb. cbn [l_u l_k l_den] in *.
    destruct Hb as [Hn Hb]. set (B := blocking rs g d) in *. set (D := dbf rs g L) in *.
    assert (HB : 0 <= B).
    { unfold B, blocking. pose proof (maxl_nonneg (fun r => if d <? window r then r_q r else 0) rs).
      lia. }
    assert (H1 : 1000 * (n * (D + B)) <= 1000 * (u * L + Z.max 0 k + B * n)) by lia.
    assert (H2 : d * (u * L + Z.max 0 k + B * n) <= L * (u * d + Z.max 0 k + B * n)).
    { assert (d * (Z.max 0 k + B * n) <= L * (Z.max 0 k + B * n))
        by (apply Z.mul_le_mono_nonneg_r; nia). lia. }
    assert (H3 : L * (1000 * (u * d + Z.max 0 k + B * n)) <= L * (share g * n * d))
      by (apply Z.mul_le_mono_nonneg_l; lia).
    assert (H4 : d * (1000 * (n * (D + B))) <= d * (1000 * (u * L + Z.max 0 k + B * n)))
      by (apply Z.mul_le_mono_nonneg_l; lia).
    assert (H5 : d * n * (1000 * (D + B)) <= d * n * (share g * L)) by lia.
    apply (Zmult_le_reg_r _ _ (d * n)); [nia|]. lia.
  Qed.
End Cheap.

(* It accepts a processor with a writer and collection. *)
Example cheap_accepts :
  cheap_test [Request 4 10000 10000 0 2 2] (Collection 20000 2 5 2 0 0) = true.
Proof. vm_compute. reflexivity. Qed.
