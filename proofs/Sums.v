(* Finite sums and counts over natural numbers below a bound, and over lists. *)
From Coq Require Import ZArith List Lia Bool.
Import ListNotations.
Open Scope Z_scope.

Fixpoint sumn (g : nat -> Z) (n : nat) : Z :=
  match n with O => 0 | S k => sumn g k + g k end.

Definition ind (p : bool) : Z := if p then 1 else 0.

Definition countn (p : nat -> bool) (n : nat) : Z := sumn (fun m => ind (p m)) n.

Definition suml {X : Type} (g : X -> Z) (l : list X) : Z :=
  fold_right (fun x acc => g x + acc) 0 l.

Lemma sumn_le : forall n g h,
  (forall m, (m < n)%nat -> g m <= h m) -> sumn g n <= sumn h n.
Proof.
  induction n; simpl; intros g h H; [lia|].
  assert (sumn g n <= sumn h n) by (apply IHn; intros; apply H; lia).
  assert (g n <= h n) by (apply H; lia). lia.
Qed.

Lemma sumn_ext : forall n g h,
  (forall m, (m < n)%nat -> g m = h m) -> sumn g n = sumn h n.
Proof.
  induction n; simpl; intros g h H; [reflexivity|].
  rewrite (IHn g h) by (intros; apply H; lia). rewrite (H n) by lia. reflexivity.
Qed.

Lemma sumn_nonneg : forall n g,
  (forall m, (m < n)%nat -> 0 <= g m) -> 0 <= sumn g n.
Proof.
  induction n; simpl; intros g H; [lia|].
  assert (0 <= sumn g n) by (apply IHn; intros; apply H; lia).
  assert (0 <= g n) by (apply H; lia). lia.
Qed.

Lemma sumn_zero : forall n g, (forall m, (m < n)%nat -> g m = 0) -> sumn g n = 0.
Proof.
  induction n; simpl; intros g H; [reflexivity|].
  rewrite IHn by (intros; apply H; lia). rewrite (H n) by lia. reflexivity.
Qed.

Lemma sumn_add : forall n g h, sumn (fun m => g m + h m) n = sumn g n + sumn h n.
Proof. induction n; simpl; intros; [reflexivity|]. rewrite IHn. lia. Qed.

Lemma sumn_mul : forall n g k, sumn (fun m => k * g m) n = k * sumn g n.
Proof. induction n; simpl; intros; [lia|]. rewrite IHn. lia. Qed.

Lemma sumn_lt : forall n g h j,
  (forall m, (m < n)%nat -> g m <= h m) -> (j < n)%nat -> g j < h j -> sumn g n < sumn h n.
Proof.
  induction n; simpl; intros g h j H Hj Hlt; [lia|].
  destruct (Nat.eq_dec j n).
  - subst. assert (sumn g n <= sumn h n) by (apply sumn_le; intros; apply H; lia). lia.
  - assert (sumn g n < sumn h n) by (apply (IHn g h j); [intros; apply H; lia|lia|lia]).
    assert (g n <= h n) by (apply H; lia). lia.
Qed.

(* Of terms that are not negative, one is at most the sum. *)
Lemma sumn_term : forall n g j,
  (forall m, (m < n)%nat -> 0 <= g m) -> (j < n)%nat -> g j <= sumn g n.
Proof.
  induction n; simpl; intros g j H Hj; [lia|].
  assert (0 <= g n) by (apply H; lia).
  destruct (Nat.eq_dec j n).
  - subst. assert (0 <= sumn g n) by (apply sumn_nonneg; intros; apply H; lia). lia.
  - assert (g j <= sumn g n) by (apply IHn; [intros; apply H; lia|lia]). lia.
Qed.

(* The order of two sums does not matter. *)
Lemma sumn_swap : forall n k (g : nat -> nat -> Z),
  sumn (fun m => sumn (fun i => g i m) k) n = sumn (fun i => sumn (fun m => g i m) n) k.
Proof.
  induction n; intros k g.
  - simpl. symmetry. apply sumn_zero. intros. reflexivity.
  - simpl. rewrite IHn. rewrite <- sumn_add. apply sumn_ext. intros. simpl. reflexivity.
Qed.

(* A sum with one term that is not zero. *)
Lemma sumn_single : forall n g j,
  (j < n)%nat -> (forall m, (m < n)%nat -> m <> j -> g m = 0) -> sumn g n = g j.
Proof.
  induction n; simpl; intros g j Hj H; [lia|].
  destruct (Nat.eq_dec j n).
  - subst. rewrite sumn_zero; [lia|]. intros m Hm. apply H; lia.
  - rewrite (IHn g j) by (try lia; intros; apply H; lia).
    rewrite (H n) by lia. lia.
Qed.

Lemma countn_nonneg : forall n p, 0 <= countn p n.
Proof. intros. apply sumn_nonneg. intros. unfold ind. destruct (p m); lia. Qed.

Lemma countn_le : forall n p r,
  (forall m, (m < n)%nat -> p m = true -> r m = true) -> countn p n <= countn r n.
Proof.
  intros n p r H. apply sumn_le. intros m Hm. unfold ind.
  destruct (p m) eqn:E; [rewrite (H m Hm E); lia|destruct (r m); lia].
Qed.

(* Terms of at most k each, where p holds. *)
Lemma sumn_count_mul : forall n p g k,
  (forall m, (m < n)%nat -> p m = true -> g m <= k) ->
  sumn (fun m => if p m then g m else 0) n <= k * countn p n.
Proof.
  intros n p g k H. unfold countn. rewrite <- sumn_mul. apply sumn_le.
  intros m Hm. unfold ind. destruct (p m) eqn:E; [specialize (H m Hm E); lia|lia].
Qed.

(* At most one index satisfies p. *)
Lemma countn_le_one : forall n p,
  (forall m k, (m < n)%nat -> (k < n)%nat -> p m = true -> p k = true -> m = k) ->
  countn p n <= 1.
Proof.
  unfold countn. induction n; simpl; intros p H; [lia|].
  assert (IH : sumn (fun m => ind (p m)) n <= 1)
    by (apply IHn; intros; apply H; auto; lia).
  unfold ind at 2. destruct (p n) eqn:E; [|lia].
  rewrite sumn_zero; [lia|]. intros m Hm. unfold ind.
  destruct (p m) eqn:Em; [|reflexivity].
  assert (m = n) by (apply H; auto; lia). lia.
Qed.

Lemma countn_filter : forall n p, countn p n = Z.of_nat (length (filter p (seq 0 n))).
Proof.
  unfold countn. induction n; intros p; [reflexivity|].
  rewrite seq_S, filter_app, app_length. simpl. rewrite IHn.
  unfold ind. destruct (p n); simpl; lia.
Qed.

(* Counting by pigeonholes: distinct numbers of 0 .. k - 1 for indices that satisfy p. *)
Lemma countn_pigeon : forall n p (h : nat -> Z) k,
  0 <= k ->
  (forall m, (m < n)%nat -> p m = true -> 0 <= h m < k) ->
  (forall m r, (m < n)%nat -> (r < n)%nat -> p m = true -> p r = true -> h m = h r -> m = r) ->
  countn p n <= k.
Proof.
  intros n p h k Hk Hr Hi. rewrite countn_filter.
  set (l := filter p (seq 0 n)).
  assert (Hin : forall m, In m l -> (m < n)%nat /\ p m = true).
  { intros m Hm. apply filter_In in Hm. destruct Hm as [Hm Hp]. apply in_seq in Hm. split; auto. lia. }
  assert (Hnd : NoDup (map (fun m => Z.to_nat (h m)) l)).
  { assert (Hl : NoDup l) by (apply NoDup_filter, seq_NoDup).
    clearbody l. induction l as [|x l IH]; simpl; constructor.
    - intros Hx. apply in_map_iff in Hx. destruct Hx as [y [Hy Hyl]].
      destruct (Hin x) as [Hx1 Hx2]; [left; reflexivity|].
      destruct (Hin y) as [Hy1 Hy2]; [right; assumption|].
      pose proof (Hr x Hx1 Hx2). pose proof (Hr y Hy1 Hy2).
      assert (y = x) by (apply Hi; auto; lia). subst.
      inversion Hl; contradiction.
    - apply IH; [intros; apply Hin; right; assumption|inversion Hl; assumption]. }
  assert (Hinc : incl (map (fun m => Z.to_nat (h m)) l) (seq 0 (Z.to_nat k))).
  { intros y Hy. apply in_map_iff in Hy. destruct Hy as [x [Hx Hxl]].
    destruct (Hin x Hxl) as [H1 H2]. pose proof (Hr x H1 H2).
    apply in_seq. lia. }
  pose proof (NoDup_incl_length Hnd Hinc) as Hlen.
  rewrite map_length, seq_length in Hlen. lia.
Qed.

(* Lists. *)

Lemma suml_cons : forall {X} (g : X -> Z) x l, suml g (x :: l) = g x + suml g l.
Proof. reflexivity. Qed.

Lemma suml_app : forall {X} (g : X -> Z) l r, suml g (l ++ r) = suml g l + suml g r.
Proof. induction l; simpl; intros; [reflexivity|]. rewrite IHl. lia. Qed.

Lemma suml_le : forall {X} (g h : X -> Z) l,
  (forall x, In x l -> g x <= h x) -> suml g l <= suml h l.
Proof.
  induction l; simpl; intros H; [lia|].
  assert (g a <= h a) by (apply H; auto).
  assert (suml g l <= suml h l) by (apply IHl; intros; apply H; auto). lia.
Qed.

Lemma suml_lt : forall {X} (g h : X -> Z) l y,
  (forall x, In x l -> g x <= h x) -> In y l -> g y < h y -> suml g l < suml h l.
Proof.
  induction l; simpl; intros y H Hy Hlt; [contradiction|].
  assert (g a <= h a) by (apply H; auto).
  assert (suml g l <= suml h l) by (apply suml_le; intros; apply H; auto).
  destruct Hy as [->|Hy]; [lia|].
  assert (suml g l < suml h l) by (apply (IHl y); auto). lia.
Qed.

Lemma suml_ext : forall {X} (g h : X -> Z) l,
  (forall x, In x l -> g x = h x) -> suml g l = suml h l.
Proof.
  induction l; simpl; intros H; [reflexivity|].
  rewrite (H a) by auto. rewrite IHl; auto.
Qed.

Lemma suml_nonneg : forall {X} (g : X -> Z) l,
  (forall x, In x l -> 0 <= g x) -> 0 <= suml g l.
Proof.
  induction l; simpl; intros H; [lia|].
  assert (0 <= g a) by (apply H; auto).
  assert (0 <= suml g l) by (apply IHl; auto). lia.
Qed.

Lemma suml_zero : forall {X} (g : X -> Z) l,
  (forall x, In x l -> g x = 0) -> suml g l = 0.
Proof.
  induction l; simpl; intros H; [reflexivity|].
  rewrite (H a) by auto. rewrite IHl; auto.
Qed.

Lemma suml_nth : forall {X} (g : X -> Z) (d : X) l,
  suml g l = sumn (fun i => g (nth i l d)) (length l).
Proof.
  intros X g d l. induction l using rev_ind; [reflexivity|].
  rewrite suml_app, app_length, Nat.add_1_r. simpl.
  rewrite app_nth2 by lia. rewrite Nat.sub_diag. simpl.
  rewrite IHl. rewrite (sumn_ext (length l) (fun i => g (nth i (l ++ [x]) d)) (fun i => g (nth i l d))).
  - lia.
  - intros m Hm. rewrite app_nth1 by lia. reflexivity.
Qed.

(* A sum over a list, by the number that each element belongs to. *)
Lemma suml_by_key : forall {X} (key : X -> nat) (g : X -> Z) l n,
  (forall x, In x l -> (key x < n)%nat) ->
  suml g l = sumn (fun m => suml (fun x => if Nat.eqb (key x) m then g x else 0) l) n.
Proof.
  induction l; simpl; intros n H.
  - symmetry. apply sumn_zero. reflexivity.
  - rewrite (IHl n) by auto. rewrite sumn_add. f_equal.
    rewrite (sumn_single n _ (key a)); [rewrite Nat.eqb_refl; reflexivity|apply H; auto|].
    intros m Hm Hne. destruct (Nat.eqb_spec (key a) m); [lia|reflexivity].
Qed.

(* A sum over indices, by the class that each index belongs to. *)
Lemma sumn_by_class : forall n k (key : nat -> nat) (p : nat -> bool) (g : nat -> Z),
  (forall m, (m < n)%nat -> p m = true -> (key m < k)%nat) ->
  sumn (fun m => if p m then g m else 0) n =
  sumn (fun i => sumn (fun m => if p m && Nat.eqb (key m) i then g m else 0) n) k.
Proof.
  intros n k key p g H. rewrite <- sumn_swap. apply sumn_ext. intros m Hm.
  destruct (p m) eqn:E; simpl.
  - rewrite (sumn_single k _ (key m)).
    + rewrite Nat.eqb_refl. reflexivity.
    + apply H; auto.
    + intros i Hi Hne. destruct (Nat.eqb_spec (key m) i); [lia|reflexivity].
  - symmetry. apply sumn_zero. reflexivity.
Qed.

(* Quotients rounded up. *)
Definition cdiv (a b : Z) : Z := (a + b - 1) / b.

Lemma cdiv_ge : forall a b, 0 < b -> a <= b * cdiv a b.
Proof.
  intros a b Hb. unfold cdiv.
  pose proof (Z.div_mod (a + b - 1) b ltac:(lia)).
  pose proof (Z.mod_pos_bound (a + b - 1) b Hb). lia.
Qed.

Lemma cdiv_le : forall a b, 0 < b -> b * cdiv a b <= a + b - 1.
Proof. intros a b Hb. unfold cdiv. apply Z.mul_div_le. assumption. Qed.

Lemma cdiv_least : forall a b k, 0 < b -> a <= b * k -> cdiv a b <= k.
Proof.
  intros a b k Hb H. unfold cdiv.
  assert ((a + b - 1) / b < k + 1); [|lia].
  apply Z.div_lt_upper_bound; lia.
Qed.

Lemma cdiv_mono : forall a c b, 0 < b -> a <= c -> cdiv a b <= cdiv c b.
Proof. intros. unfold cdiv. apply Z.div_le_mono; lia. Qed.

Lemma cdiv_nonneg : forall a b, 0 < b -> 0 <= a -> 0 <= cdiv a b.
Proof. intros. unfold cdiv. apply Z.div_pos; lia. Qed.

(* Half open and closed intervals: ⌊(x - 1)/t⌋ + 1 = ⌈x/t⌉. *)
Lemma cdiv_floor : forall x t, 0 < t -> (x - 1) / t + 1 = cdiv x t.
Proof.
  intros x t Ht. unfold cdiv. replace (x + t - 1) with (x - 1 + 1 * t) by lia.
  rewrite Z.div_add by lia. reflexivity.
Qed.
