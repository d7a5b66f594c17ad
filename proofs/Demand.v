(* Sections 2.6, 2.7 and 2.9: the demand test (T), its last length, and a procedure that decides it.
   Everything is in integers; U_s is in thousandths. *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Qpa.
Import ListNotations.
Open Scope Z_scope.

(* A request: cost of all its steps, period, relative deadline, release jitter, longest step, and
   pages that it writes on the processor. *)
Record request := Request {
  r_C : Z; r_T : Z; r_D : Z; r_J : Z; r_q : Z; r_w : Z
}.

(* Garbage collection: relative deadline, pages that a pass reclaims, cost of a pass, its longest
   step. And the server: its share in thousandths, the longest step there is with a server or
   background jobs (0 without). *)
Record collection := Collection {
  g_D : Z; g_alpha : Z; g_C : Z; g_q : Z; g_us : Z; g_qs : Z
}.

(* (1) *)
Definition window (r : request) : Z := r_D r - r_J r.

Definition request_ok (r : request) : Prop :=
  0 < r_T r /\ 0 <= r_J r /\ r_J r < r_D r /\ r_J r < r_T r /\ 1 <= r_q r <= r_C r /\ 0 <= r_w r.

Definition collection_ok (g : collection) : Prop :=
  1 <= g_D g /\ 1 <= g_alpha g /\ 0 <= g_q g <= g_C g /\ 0 <= g_us g <= 1000 /\ 0 <= g_qs g.

(* (2) *)
Definition due_jobs (r : request) (L : Z) : Z :=
  if window r <=? L then (L - window r) / r_T r + 1 else 0.

(* (13) *)
Definition arriving (rs : list request) (y : Z) : Z :=
  suml (fun r => ((y + r_J r) / r_T r + 1) * r_w r) rs.

Definition due_passes (rs : list request) (g : collection) (L : Z) : Z :=
  if g_D g <=? L then cdiv (arriving rs (L - g_D g)) (g_alpha g) else 0.

(* (12) *)
Definition dbf (rs : list request) (g : collection) (L : Z) : Z :=
  suml (fun r => due_jobs r L * r_C r) rs + due_passes rs g L * g_C g.

Definition writes (rs : list request) : bool := existsb (fun r => 0 <? r_w r) rs.

Definition maxl {X : Type} (f : X -> Z) (l : list X) : Z :=
  fold_right (fun x acc => Z.max (f x) acc) 0 l.

(* (14) *)
Definition blocking (rs : list request) (g : collection) (L : Z) : Z :=
  Z.max (maxl (fun r => if L <? window r then r_q r else 0) rs)
    (Z.max (if (L <? g_D g) && writes rs then g_q g else 0) (g_qs g)).

Definition share (g : collection) : Z := 1000 - g_us g.

(* (T) at one length: dbf(L) + B(L) <= (1 - U_s) L. *)
Definition fits (rs : list request) (g : collection) (L : Z) : Prop :=
  1000 * (dbf rs g L + blocking rs g L) <= share g * L.

(* All relative deadlines. *)
Definition deadlines (rs : list request) (g : collection) : list Z :=
  map window rs ++ (if writes rs then [g_D g] else []).

(* (T): for every L >= min d, D_g. *)
Definition demand_test (rs : list request) (g : collection) : Prop :=
  forall L, (exists x, In x (deadlines rs g) /\ x <= L) -> fits rs g L.

Lemma maxl_ge : forall {X} (f : X -> Z) l x, In x l -> f x <= maxl f l.
Proof.
  induction l; simpl; intros x H; [contradiction|].
  destruct H as [->|H]; [lia|]. specialize (IHl x H). lia.
Qed.

Lemma maxl_nonneg : forall {X} (f : X -> Z) l, 0 <= maxl f l.
Proof. induction l; simpl; lia. Qed.

Lemma maxl_ext : forall {X} (f g : X -> Z) l,
  (forall x, In x l -> f x = g x) -> maxl f l = maxl g l.
Proof.
  induction l; simpl; intros H; [reflexivity|]. rewrite (H a) by auto. rewrite IHl; auto.
Qed.

Lemma maxl_zero : forall {X} (f : X -> Z) l,
  (forall x, In x l -> f x = 0) -> maxl f l = 0.
Proof.
  induction l; simpl; intros H; [reflexivity|]. rewrite (H a) by auto. rewrite IHl; auto.
Qed.

Lemma writes_spec : forall rs, writes rs = true <-> exists r, In r rs /\ 0 < r_w r.
Proof.
  intros. unfold writes. rewrite existsb_exists. split; intros [r [H1 H2]]; exists r; split; auto;
    [apply Z.ltb_lt in H2|apply Z.ltb_lt]; auto.
Qed.

Section Test.
  Variable rs : list request.
  Variable g : collection.
  Hypothesis requests : forall r, In r rs -> request_ok r.
  Hypothesis gc : collection_ok g.

  Lemma no_writer : writes rs = false -> forall r, In r rs -> r_w r = 0.
  Proof.
    intros H r Hr. destruct (Z.eq_dec (r_w r) 0) as [|Hn]; [assumption|].
    assert (writes rs = true); [|congruence]. apply writes_spec. exists r. split; [assumption|].
    pose proof (requests r Hr) as Hok. unfold request_ok in Hok. lia.
  Qed.

  Lemma due_jobs_mono : forall r x y, In r rs -> x <= y -> due_jobs r x <= due_jobs r y.
  Proof.
    intros r x y Hr Hxy. pose proof (requests r Hr) as Hok. unfold request_ok in Hok.
    unfold due_jobs. destruct (Z.leb_spec (window r) x); destruct (Z.leb_spec (window r) y); try lia.
    - assert ((x - window r) / r_T r <= (y - window r) / r_T r) by (apply Z.div_le_mono; lia). lia.
    - assert (0 <= (y - window r) / r_T r) by (apply Z.div_pos; lia). lia.
  Qed.

  Lemma due_jobs_nonneg : forall r x, In r rs -> 0 <= due_jobs r x.
  Proof.
    intros r x Hr. pose proof (requests r Hr) as Hok. unfold request_ok in Hok.
    unfold due_jobs. destruct (Z.leb_spec (window r) x); [|lia].
    assert (0 <= (x - window r) / r_T r) by (apply Z.div_pos; lia). lia.
  Qed.

  Lemma arriving_mono : forall x y, x <= y -> arriving rs x <= arriving rs y.
  Proof.
    intros x y Hxy. apply suml_le. intros r Hr. pose proof (requests r Hr) as Hok.
    unfold request_ok in Hok.
    apply Z.mul_le_mono_nonneg_r; [lia|].
    assert ((x + r_J r) / r_T r <= (y + r_J r) / r_T r) by (apply Z.div_le_mono; lia). lia.
  Qed.

  Lemma arriving_nonneg : forall x, 0 <= x -> 0 <= arriving rs x.
  Proof.
    intros x Hx. apply suml_nonneg. intros r Hr. pose proof (requests r Hr) as Hok.
    unfold request_ok in Hok. apply Z.mul_nonneg_nonneg; [|lia].
    assert (0 <= (x + r_J r) / r_T r) by (apply Z.div_pos; lia). lia.
  Qed.

  Lemma due_passes_mono : forall x y, x <= y -> due_passes rs g x <= due_passes rs g y.
  Proof.
    intros x y Hxy. unfold collection_ok in gc. unfold due_passes.
    destruct (Z.leb_spec (g_D g) x); destruct (Z.leb_spec (g_D g) y); try lia.
    - apply cdiv_mono; [lia|]. apply arriving_mono. lia.
    - apply cdiv_nonneg; [lia|]. apply arriving_nonneg. lia.
  Qed.

  Lemma due_passes_nonneg : forall x, 0 <= due_passes rs g x.
  Proof.
    intros x. unfold collection_ok in gc. unfold due_passes.
    destruct (Z.leb_spec (g_D g) x); [|lia].
    apply cdiv_nonneg; [lia|]. apply arriving_nonneg. lia.
  Qed.

  (* dbf does not decrease: what Lemma 5 needs. *)
  Lemma dbf_nondecreasing : forall x y, x <= y -> dbf rs g x <= dbf rs g y.
  Proof.
    intros x y Hxy. unfold dbf. unfold collection_ok in gc.
    assert (due_passes rs g x * g_C g <= due_passes rs g y * g_C g).
    { apply Z.mul_le_mono_nonneg_r; [lia|]. apply due_passes_mono; assumption. }
    assert (suml (fun r => due_jobs r x * r_C r) rs <= suml (fun r => due_jobs r y * r_C r) rs).
    { apply suml_le. intros r Hr. pose proof (requests r Hr) as Hok. unfold request_ok in Hok.
      apply Z.mul_le_mono_nonneg_r; [lia|]. apply due_jobs_mono; assumption. }
    lia.
  Qed.

  (* B is constant between relative deadlines. *)
  Lemma blocking_constant : forall x y, x <= y ->
    (forall z, In z (deadlines rs g) -> ~ (x < z <= y)) -> blocking rs g x = blocking rs g y.
  Proof.
    intros x y Hxy H. unfold blocking. f_equal; [|f_equal].
    - apply maxl_ext. intros r Hr.
      assert (Hz : ~ (x < window r <= y)).
      { apply H. unfold deadlines. apply in_or_app. left. apply in_map. assumption. }
      destruct (Z.ltb_spec x (window r)); destruct (Z.ltb_spec y (window r)); try reflexivity; lia.
    - destruct (writes rs) eqn:E; [|rewrite !andb_false_r; reflexivity].
      rewrite !andb_true_r.
      assert (Hz : ~ (x < g_D g <= y)).
      { apply H. unfold deadlines. apply in_or_app. right. rewrite E. left. reflexivity. }
      destruct (Z.ltb_spec x (g_D g)); destruct (Z.ltb_spec y (g_D g)); try reflexivity; lia.
  Qed.

  Lemma blocking_beyond : forall L, (forall z, In z (deadlines rs g) -> z <= L) ->
    blocking rs g L = g_qs g.
  Proof.
    intros L H. unfold blocking. unfold collection_ok in gc.
    rewrite maxl_zero.
    - assert (E : (if (L <? g_D g) && writes rs then g_q g else 0) = 0).
      { destruct (writes rs) eqn:E; [|rewrite andb_false_r; reflexivity].
        destruct (Z.ltb_spec L (g_D g)); [|reflexivity].
        assert (g_D g <= L); [|lia]. apply H. unfold deadlines. apply in_or_app. right. rewrite E.
        left. reflexivity. }
      rewrite E. lia.
    - intros r Hr. destruct (Z.ltb_spec L (window r)); [|reflexivity].
      assert (window r <= L); [|lia]. apply H. unfold deadlines. apply in_or_app. left.
      apply in_map. assumption.
  Qed.
End Test.

(* Lines u L + k over a common denominator: (15) and (16) without rounding. *)
Record line := Line { l_u : Z; l_k : Z; l_den : Z }.

Definition line_add (a b : line) : line :=
  Line (l_u a * l_den b + l_u b * l_den a) (l_k a * l_den b + l_k b * l_den a) (l_den a * l_den b).

Definition line_zero : line := Line 0 0 1.

Definition lines {X : Type} (f : X -> line) (l : list X) : line :=
  fold_right (fun x acc => line_add (f x) acc) line_zero l.

Definition request_line (r : request) : line :=
  Line (r_C r) (r_C r * (r_T r - window r)) (r_T r).

Definition writer_line (g : collection) (r : request) : line :=
  Line (r_w r) (r_w r * (r_T r - (g_D g - r_J r))) (r_T r).

Definition passes_line (rs : list request) (g : collection) : line :=
  let pages := line_add (lines (writer_line g) rs) (Line 0 (g_alpha g - 1) 1) in
  Line (g_C g * l_u pages) (g_C g * l_k pages) (g_alpha g * l_den pages).

(* U L + K - q_s. *)
Definition load_line (rs : list request) (g : collection) : line :=
  if writes rs then line_add (lines request_line rs) (passes_line rs g)
  else lines request_line rs.

(* (15): whether U < 1 - U_s, exactly. *)
Definition load_fits (rs : list request) (g : collection) : bool :=
  1000 * l_u (load_line rs g) <? share g * l_den (load_line rs g).

(* (17) *)
Definition last_length (rs : list request) (g : collection) : Z :=
  let l := load_line rs g in
  Z.max (maxl (fun x => x) (deadlines rs g))
    (cdiv (1000 * (l_k l + g_qs g * l_den l)) (share g * l_den l - 1000 * l_u l)).

Definition below_line (v L : Z) (l : line) : Prop := 0 < l_den l /\ l_den l * v <= l_u l * L + l_k l.

Lemma line_add_below : forall v1 v2 L a b,
  below_line v1 L a -> below_line v2 L b -> below_line (v1 + v2) L (line_add a b).
Proof.
  unfold below_line, line_add. intros v1 v2 L [u1 k1 n1] [u2 k2 n2]; simpl. intros [H1 H2] [H3 H4].
  split; [nia|].
  assert (n2 * (n1 * v1) <= n2 * (u1 * L + k1)) by (apply Z.mul_le_mono_nonneg_l; lia).
  assert (n1 * (n2 * v2) <= n1 * (u2 * L + k2)) by (apply Z.mul_le_mono_nonneg_l; lia).
  nia.
Qed.

Lemma lines_below : forall {X} (f : X -> line) (v : X -> Z) L l,
  (forall x, In x l -> below_line (v x) L (f x)) -> below_line (suml v l) L (lines f l).
Proof.
  induction l; simpl; intros H.
  - unfold below_line, line_zero; simpl. lia.
  - apply line_add_below; [apply H; auto|apply IHl; auto].
Qed.

Section Last.
  Variable rs : list request.
  Variable g : collection.
  Hypothesis requests : forall r, In r rs -> request_ok r.
  Hypothesis gc : collection_ok g.

  Lemma request_below : forall r L, In r rs -> window r <= L ->
    below_line (due_jobs r L * r_C r) L (request_line r).
  Proof.
    intros r L Hr HL. pose proof (requests r Hr) as Hok. unfold request_ok in Hok.
    unfold below_line, request_line; simpl. split; [lia|].
    unfold due_jobs. destruct (Z.leb_spec (window r) L); [|lia].
    pose proof (Z.mul_div_le (L - window r) (r_T r) ltac:(lia)) as Hd.
    set (k := (L - window r) / r_T r) in *.
    assert (r_C r * (r_T r * k) <= r_C r * (L - window r))
      by (apply Z.mul_le_mono_nonneg_l; lia).
    nia.
  Qed.

  Lemma writer_below : forall r L, In r rs -> g_D g <= L ->
    below_line (((L - g_D g + r_J r) / r_T r + 1) * r_w r) L (writer_line g r).
  Proof.
    intros r L Hr HL. pose proof (requests r Hr) as Hok. unfold request_ok in Hok.
    unfold below_line, writer_line; simpl. split; [lia|].
    pose proof (Z.mul_div_le (L - g_D g + r_J r) (r_T r) ltac:(lia)) as Hd.
    set (k := (L - g_D g + r_J r) / r_T r) in *.
    assert (r_w r * (r_T r * k) <= r_w r * (L - g_D g + r_J r))
      by (apply Z.mul_le_mono_nonneg_l; lia).
    nia.
  Qed.

  Lemma passes_below : forall L, g_D g <= L ->
    below_line (due_passes rs g L * g_C g) L (passes_line rs g).
  Proof.
    intros L HL. unfold collection_ok in gc. unfold due_passes.
    destruct (Z.leb_spec (g_D g) L); [|lia].
    assert (HX : below_line (arriving rs (L - g_D g)) L (lines (writer_line g) rs)).
    { unfold arriving. apply lines_below. intros r Hr. apply writer_below; assumption. }
    assert (HA : below_line (g_alpha g - 1) L (Line 0 (g_alpha g - 1) 1)).
    { unfold below_line; cbn [l_u l_k l_den]. lia. }
    pose proof (line_add_below _ _ _ _ _ HX HA) as HS. unfold passes_line.
    destruct (line_add (lines (writer_line g) rs) (Line 0 (g_alpha g - 1) 1)) as [u k n].
    unfold below_line in *; cbn [l_u l_k l_den] in *. destruct HS as [Hn HS].
    split; [nia|].
    pose proof (cdiv_le (arriving rs (L - g_D g)) (g_alpha g) ltac:(lia)) as Hc.
    set (c := cdiv (arriving rs (L - g_D g)) (g_alpha g)) in *.
    set (X := arriving rs (L - g_D g)) in *.
    assert (n * (g_alpha g * c) <= n * (X + (g_alpha g - 1))) by (apply Z.mul_le_mono_nonneg_l; lia).
    assert (g_C g * (n * (g_alpha g * c)) <= g_C g * (u * L + k))
      by (apply Z.mul_le_mono_nonneg_l; lia).
    nia.
  Qed.

  (* (16): dbf(L) <= U L + K - q_s from the longest relative deadline on. *)
  Theorem demand_below_line : forall L, (forall z, In z (deadlines rs g) -> z <= L) ->
    below_line (dbf rs g L) L (load_line rs g).
  Proof.
    intros L H. unfold dbf, load_line.
    assert (HR : below_line (suml (fun r => due_jobs r L * r_C r) rs) L (lines request_line rs)).
    { apply lines_below. intros r Hr. apply request_below; [assumption|]. apply H.
      unfold deadlines. apply in_or_app. left. apply in_map. assumption. }
    destruct (writes rs) eqn:E.
    - apply line_add_below; [assumption|]. apply passes_below. apply H.
      unfold deadlines. apply in_or_app. right. rewrite E. left. reflexivity.
    - assert (Hz : due_passes rs g L = 0).
      { unfold due_passes. destruct (Z.leb_spec (g_D g) L); [|reflexivity].
        unfold arriving. rewrite suml_zero.
        - unfold cdiv, collection_ok in *. apply Z.div_small. lia.
        - intros r Hr. rewrite (no_writer rs requests E r Hr). lia. }
      rewrite Hz. replace (suml (fun r => due_jobs r L * r_C r) rs + 0 * g_C g)
        with (suml (fun r => due_jobs r L * r_C r) rs) by lia. assumption.
  Qed.

  (* (17): beyond L_max (T) holds. *)
  Theorem last_length_suffices : load_fits rs g = true ->
    forall L, last_length rs g <= L -> fits rs g L.
  Proof.
    intros Hu L HL. unfold load_fits in Hu. apply Z.ltb_lt in Hu. unfold last_length in HL.
    assert (Hd : forall z, In z (deadlines rs g) -> z <= L).
    { intros z Hz. pose proof (maxl_ge (fun x => x) _ _ Hz). simpl in *. lia. }
    pose proof (demand_below_line L Hd) as Hb.
    unfold fits. rewrite (blocking_beyond rs g gc L Hd).
    destruct (load_line rs g) as [u k n]. unfold below_line in Hb; cbn [l_u l_k l_den] in *.
    destruct Hb as [Hn Hb].
    set (m := share g * n - 1000 * u) in *.
    assert (Hm : 0 < m) by lia.
    pose proof (cdiv_ge (1000 * (k + g_qs g * n)) m Hm) as Hc.
    set (cc := cdiv (1000 * (k + g_qs g * n)) m) in *.
    assert (m * cc <= m * L) by (apply Z.mul_le_mono_nonneg_l; lia).
    assert (n * (1000 * (dbf rs g L + g_qs g)) <= n * (share g * L)); [|nia].
    unfold m in *. nia.
  Qed.
End Last.

(* The procedure: segments from each relative deadline up to the next, or to L_max. *)
Definition next_deadline (ds : list Z) (x : Z) : option Z :=
  fold_right (fun y acc =>
    if x <? y then match acc with None => Some y | Some z => Some (Z.min y z) end else acc) None ds.

Definition segment_end (ds : list Z) (last x : Z) : Z :=
  match next_deadline ds x with None => last | Some y => y - 1 end.

(* h(L) = ⌈(dbf(L) + B_j)/(1 - U_s)⌉ *)
Definition needed (rs : list request) (g : collection) (b L : Z) : Z :=
  cdiv (1000 * (dbf rs g L + b)) (share g).

Definition segment_outcome (rs : list request) (g : collection) (last x : Z) : outcome :=
  let e := segment_end (deadlines rs g) last x in
  document_loop (needed rs g (blocking rs g x)) x e (Z.to_pos (e - x + 2)).

Inductive verdict := Accepted | Rejected (L : Z) | Overloaded.

Fixpoint first_failure (f : Z -> outcome) (ds : list Z) : verdict :=
  match ds with
  | [] => Accepted
  | x :: rest =>
      match f x with
      | Fails L => Rejected L
      | _ => first_failure f rest
      end
  end.

(* Segments in the order of their lengths: a rejection names the longest length that fails in the
   first segment that has one. *)
Fixpoint insert (x : Z) (l : list Z) : list Z :=
  match l with
  | [] => [x]
  | y :: r => if x <=? y then x :: l else y :: insert x r
  end.
Definition sorted (l : list Z) : list Z := fold_right insert [] l.

Lemma insert_in : forall x y l, In y (insert x l) <-> y = x \/ In y l.
Proof.
  induction l as [|z l IH]; simpl.
  - intuition.
  - destruct (x <=? z); simpl; [intuition|]. rewrite IH. intuition.
Qed.

Lemma sorted_in : forall l y, In y (sorted l) <-> In y l.
Proof.
  induction l as [|x l IH]; simpl; intros y; [intuition|].
  rewrite insert_in, IH. intuition.
Qed.

Definition decide (rs : list request) (g : collection) : verdict :=
  match deadlines rs g with
  | [] => Accepted
  | ds =>
      if load_fits rs g then first_failure (segment_outcome rs g (last_length rs g)) (sorted ds)
      else Overloaded
  end.

Lemma next_deadline_spec : forall ds x,
  match next_deadline ds x with
  | None => forall y, In y ds -> y <= x
  | Some z => In z ds /\ x < z /\ forall y, In y ds -> x < y -> z <= y
  end.
Proof.
  induction ds; simpl; intros x; [intros; contradiction|].
  specialize (IHds x). destruct (Z.ltb_spec x a).
  - destruct (next_deadline ds x) as [z|].
    + destruct IHds as [H1 [H2 H3]]. split; [|split; [lia|]].
      * destruct (Z.min_spec a z) as [[_ ->]|[_ ->]]; auto.
      * intros y [->|Hy] Hx; [lia|]. specialize (H3 y Hy Hx). lia.
    + split; [auto|]. split; [lia|]. intros y [->|Hy] Hx; [lia|]. specialize (IHds y Hy). lia.
  - destruct (next_deadline ds x) as [z|].
    + destruct IHds as [H1 [H2 H3]]. split; [auto|]. split; [lia|].
      intros y [->|Hy] Hx; [lia|]. apply H3; assumption.
    + intros y [->|Hy]; [lia|]. apply IHds; assumption.
Qed.

(* The greatest element that is not above L. *)
Lemma greatest_below : forall ds L x, In x ds -> x <= L ->
  exists y, In y ds /\ y <= L /\ forall z, In z ds -> z <= L -> z <= y.
Proof.
  induction ds; simpl; intros L x Hx HxL; [contradiction|].
  assert (Hd : (exists w, In w ds /\ w <= L) \/ forall w, In w ds -> L < w).
  { clear. induction ds; simpl; [right; intros; contradiction|].
    destruct (Z.le_gt_cases a L); [left; exists a; auto|].
    destruct IHds as [[w [H1 H2]]|H1]; [left; exists w; auto|].
    right. intros w [->|Hw]; [lia|auto]. }
  destruct Hd as [[w [Hw HwL]]|Hnone].
  - destruct (IHds L w Hw HwL) as [y [H1 [H2 H3]]].
    destruct (Z.le_gt_cases a L) as [Ha|Ha].
    + exists (Z.max a y). split; [|split; [lia|]].
      * destruct (Z.max_spec a y) as [[_ ->]|[_ ->]]; auto.
      * intros z [->|Hz] HzL; [lia|]. specialize (H3 z Hz HzL). lia.
    + exists y. split; [auto|]. split; [assumption|]. intros z [->|Hz] HzL; [lia|auto].
  - assert (x = a) by (destruct Hx as [->|Hx]; [reflexivity|specialize (Hnone x Hx); lia]).
    subst. exists a. split; [auto|]. split; [assumption|].
    intros z [->|Hz] HzL; [lia|]. specialize (Hnone z Hz). lia.
Qed.

Lemma first_failure_spec : forall f ds,
  match first_failure f ds with
  | Accepted => forall x, In x ds -> forall L, f x <> Fails L
  | Rejected L => exists x, In x ds /\ f x = Fails L
  | Overloaded => False
  end.
Proof.
  induction ds; simpl; [intros; contradiction|].
  destruct (f a) eqn:E.
  - destruct (first_failure f ds); [intros x [<-|Hx] L; [congruence|auto]|
      destruct IHds as [x [H1 H2]]; exists x; auto|assumption].
  - exists a. auto.
  - destruct (first_failure f ds); [intros x [<-|Hx] L; [congruence|auto]|
      destruct IHds as [x [H1 H2]]; exists x; auto|assumption].
Qed.

Section Decision.
  Variable rs : list request.
  Variable g : collection.
  Hypothesis requests : forall r, In r rs -> request_ok r.
  Hypothesis gc : collection_ok g.

  Lemma deadlines_positive : forall x, In x (deadlines rs g) -> 1 <= x.
  Proof.
    unfold deadlines. intros x Hx. apply in_app_or in Hx. destruct Hx as [Hx|Hx].
    - apply in_map_iff in Hx. destruct Hx as [r [<- Hr]]. pose proof (requests r Hr) as Hok.
      unfold request_ok, window in *. lia.
    - destruct (writes rs); [|contradiction]. destruct Hx as [<-|[]].
      unfold collection_ok in gc. lia.
  Qed.

  Lemma lines_den : forall {X} (f : X -> line) l,
    (forall x, In x l -> 0 < l_den (f x) /\ 0 <= l_u (f x)) ->
    0 < l_den (lines f l) /\ 0 <= l_u (lines f l).
  Proof.
    induction l; simpl; intros H; [lia|].
    destruct (H a) as [H1 H2]; auto. destruct IHl as [H3 H4]; auto. split; nia.
  Qed.

  Lemma load_line_positive : 0 < l_den (load_line rs g) /\ 0 <= l_u (load_line rs g).
  Proof.
    unfold collection_ok in gc. unfold load_line.
    assert (H1 : 0 < l_den (lines request_line rs) /\ 0 <= l_u (lines request_line rs)).
    { apply lines_den. intros r Hr. pose proof (requests r Hr) as Hok. unfold request_ok in Hok.
      simpl. lia. }
    assert (H2 : 0 < l_den (lines (writer_line g) rs) /\ 0 <= l_u (lines (writer_line g) rs)).
    { apply lines_den. intros r Hr. pose proof (requests r Hr) as Hok. unfold request_ok in Hok.
      simpl. lia. }
    destruct (writes rs); [|assumption]. unfold passes_line, line_add; simpl.
    destruct H1, H2. split; [nia|].
    assert (0 <= g_C g * (l_u (lines (writer_line g) rs) * 1)) by nia. nia.
  Qed.

  Lemma needed_fits : forall b L, 0 < share g ->
    needed rs g b L <= L <-> 1000 * (dbf rs g L + b) <= share g * L.
  Proof.
    intros b L Hs. unfold needed. split; intros H.
    - pose proof (cdiv_ge (1000 * (dbf rs g L + b)) (share g) Hs).
      assert (share g * cdiv (1000 * (dbf rs g L + b)) (share g) <= share g * L)
        by (apply Z.mul_le_mono_nonneg_l; lia). lia.
    - apply cdiv_least; assumption.
  Qed.

  Lemma needed_mono : forall b x y, 0 < share g -> x <= y -> needed rs g b x <= needed rs g b y.
  Proof.
    intros b x y Hs Hxy. unfold needed. apply cdiv_mono; [assumption|].
    pose proof (dbf_nondecreasing rs g requests gc x y Hxy). lia.
  Qed.

  Lemma segment_spec : forall x, In x (deadlines rs g) -> 0 < share g ->
    match segment_outcome rs g (last_length rs g) x with
    | Holds => forall L, x <= L <= segment_end (deadlines rs g) (last_length rs g) x -> fits rs g L
    | Fails L => x <= L /\ ~ fits rs g L
    | TooLong => False
    end.
  Proof.
    intros x Hx Hs. unfold segment_outcome.
    set (e := segment_end (deadlines rs g) (last_length rs g) x).
    assert (HB : forall L, x <= L <= e -> blocking rs g L = blocking rs g x).
    { intros L HL. symmetry. apply blocking_constant; [lia|].
      intros z Hz Hc. unfold e, segment_end in HL.
      pose proof (next_deadline_spec (deadlines rs g) x) as Hn.
      destruct (next_deadline (deadlines rs g) x) as [y|].
      - destruct Hn as [_ [_ Hn]]. specialize (Hn z Hz ltac:(lia)). lia.
      - specialize (Hn z Hz). lia. }
    pose proof (lemma_5_document (needed rs g (blocking rs g x)) x e
      (fun a b H _ => needed_mono (blocking rs g x) a b Hs (proj2 H))
      (Z.to_pos (e - x + 2))) as H5.
    assert (Hf : e - x + 1 < Z.pos (Z.to_pos (e - x + 2))).
    { destruct (Z.le_gt_cases (e - x + 2) 0); [lia|]. rewrite Z2Pos.id by lia. lia. }
    specialize (H5 Hf).
    destruct (document_loop (needed rs g (blocking rs g x)) x e (Z.to_pos (e - x + 2))).
    - intros L HL. unfold fits. rewrite (HB L HL). apply needed_fits; [assumption|]. apply H5. lia.
    - destruct H5 as [H1 H2]. split; [lia|]. unfold fits. rewrite (HB L H1).
      rewrite <- needed_fits by assumption. lia.
    - assumption.
  Qed.

  (* The procedure is right: what it accepts passes (T), what it rejects fails it at the length that
     it names, and it calls overloaded what has U >= 1 - U_s. *)
  Theorem decide_correct :
    match decide rs g with
    | Accepted => demand_test rs g
    | Rejected L => (exists x, In x (deadlines rs g) /\ x <= L) /\ ~ fits rs g L
    | Overloaded => share g * l_den (load_line rs g) <= 1000 * l_u (load_line rs g)
    end.
  Proof.
    unfold decide. destruct (deadlines rs g) as [|d0 ds0] eqn:E.
    - intros L [x [Hx _]]. rewrite E in Hx. contradiction.
    - rewrite <- E. destruct (load_fits rs g) eqn:Hu.
      + assert (Hs : 0 < share g).
        { pose proof load_line_positive. unfold load_fits in Hu. apply Z.ltb_lt in Hu. nia. }
        pose proof (first_failure_spec (segment_outcome rs g (last_length rs g))
          (sorted (deadlines rs g))) as Hff.
        destruct (first_failure (segment_outcome rs g (last_length rs g)) (sorted (deadlines rs g))).
        * intros L [x [Hx HxL]].
          destruct (Z.le_gt_cases (last_length rs g) L) as [Hl|Hl];
            [apply last_length_suffices; assumption|].
          destruct (greatest_below _ _ _ Hx HxL) as [y [Hy [HyL Hg]]].
          pose proof (segment_spec y Hy Hs) as Hsg.
          specialize (Hff y (proj2 (sorted_in _ y) Hy)).
          destruct (segment_outcome rs g (last_length rs g) y); [|exfalso; apply (Hff L0); reflexivity|contradiction].
          apply Hsg. split; [assumption|]. unfold segment_end.
          pose proof (next_deadline_spec (deadlines rs g) y) as Hn.
          destruct (next_deadline (deadlines rs g) y) as [z|]; [|lia].
          destruct Hn as [H1 [H2 _]]. destruct (Z.le_gt_cases z L); [|lia].
          specialize (Hg z H1 ltac:(assumption)). lia.
        * destruct Hff as [x [Hx Hf]]. apply (proj1 (sorted_in _ x)) in Hx.
          pose proof (segment_spec x Hx Hs) as Hsg. rewrite Hf in Hsg.
          destruct Hsg. split; [exists x; auto|assumption].
        * contradiction.
      + unfold load_fits in Hu. apply Z.ltb_ge in Hu. assumption.
  Qed.

  (* Below the load it is exact: accepted if and only if (T) holds. *)
  Theorem decide_exact : load_fits rs g = true -> (decide rs g = Accepted <-> demand_test rs g).
  Proof.
    intros Hu. pose proof decide_correct as Hd. split; intros H.
    - rewrite H in Hd. assumption.
    - destruct (decide rs g) eqn:E.
      + reflexivity.
      + destruct Hd as [H1 H2]. exfalso. apply H2. apply H. assumption.
      + exfalso. unfold load_fits in Hu. apply Z.ltb_lt in Hu. lia.
  Qed.
End Decision.
