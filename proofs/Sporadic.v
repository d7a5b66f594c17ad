(* Sections 2.6 and 2.9: how many jobs of a request, and how many pages of all of them, fall into an
   interval (Lemma 7), for any set of nominal arrivals that are a period apart. *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums.
Import ListNotations.
Open Scope Z_scope.

(* Any two of the indices that satisfy p have nominal arrivals T apart, in either order. *)
Definition apart (n : nat) (p : nat -> bool) (nom : nat -> Z) (T : Z) : Prop :=
  forall m k, (m < n)%nat -> (k < n)%nat -> p m = true -> p k = true -> m <> k ->
  nom m + T <= nom k \/ nom k + T <= nom m.

(* A closed interval of length l holds at most ⌊l/T⌋ + 1 arrivals. *)
Lemma arrivals_in_closed : forall n p nom T lo hi,
  0 < T -> lo - 1 <= hi ->
  apart n p nom T ->
  (forall m, (m < n)%nat -> p m = true -> lo <= nom m <= hi) ->
  countn p n <= (hi - lo) / T + 1.
Proof.
  intros n p nom T lo hi HT Hlh Hap Hin.
  apply (countn_pigeon n p (fun m => (nom m - lo) / T)).
  - assert (-1 <= (hi - lo) / T); [|lia]. apply Z.div_le_lower_bound; lia.
  - intros m Hm Hp. specialize (Hin m Hm Hp). split; [apply Z.div_pos; lia|].
    assert ((nom m - lo) / T <= (hi - lo) / T) by (apply Z.div_le_mono; lia). lia.
  - intros m k Hm Hk Hpm Hpk Heq. destruct (Nat.eq_dec m k) as [|Hne]; [assumption|exfalso].
    pose proof (Z.div_mod (nom m - lo) T ltac:(lia)).
    pose proof (Z.mod_pos_bound (nom m - lo) T HT).
    pose proof (Z.div_mod (nom k - lo) T ltac:(lia)).
    pose proof (Z.mod_pos_bound (nom k - lo) T HT).
    rewrite Heq in *. destruct (Hap m k Hm Hk Hpm Hpk Hne); nia.
Qed.

(* A half open interval of length l >= 1 holds at most ⌈l/T⌉. *)
Lemma arrivals_in_half_open : forall n p nom T lo hi,
  0 < T -> lo <= hi ->
  apart n p nom T ->
  (forall m, (m < n)%nat -> p m = true -> lo < nom m <= hi) ->
  countn p n <= cdiv (hi - lo) T.
Proof.
  intros n p nom T lo hi HT Hlh Hap Hin. rewrite <- cdiv_floor by assumption.
  replace (hi - lo - 1) with (hi - (lo + 1)) by lia.
  apply arrivals_in_closed with (nom := nom); auto; [lia|].
  intros m Hm Hp. specialize (Hin m Hm Hp). lia.
Qed.

(* An open interval of length l >= 1: at most ⌈l/T⌉ too; with deadlines L + D that is the ⌈L/T⌉ + 1
   of N_j where D = T. *)
Lemma arrivals_in_open : forall n p nom T lo hi,
  0 < T -> lo < hi ->
  apart n p nom T ->
  (forall m, (m < n)%nat -> p m = true -> lo < nom m < hi) ->
  countn p n <= cdiv (hi - lo) T.
Proof.
  intros n p nom T lo hi HT Hlh Hap Hin.
  apply arrivals_in_half_open with (nom := nom); auto; [lia|].
  intros m Hm Hp. specialize (Hin m Hm Hp). lia.
Qed.

Lemma apart_weaken : forall n p r nom T,
  (forall m, (m < n)%nat -> r m = true -> p m = true) -> apart n p nom T -> apart n r nom T.
Proof. unfold apart. intros. apply H0; auto. Qed.

(* Multiples of alpha that a counter passes while it grows from a to b: at most ⌈(b - a)/alpha⌉. *)
Lemma multiples_passed : forall n (p : nat -> bool) (k : nat -> Z) alpha a b,
  1 <= alpha -> a <= b ->
  (forall m r, (m < n)%nat -> (r < n)%nat -> p m = true -> p r = true -> k m = k r -> m = r) ->
  (forall m, (m < n)%nat -> p m = true -> a < alpha * k m <= b) ->
  countn p n <= cdiv (b - a) alpha.
Proof.
  intros n p k alpha a b Ha Hab Hinj Hk.
  assert (H1 : b / alpha - a / alpha <= cdiv (b - a) alpha).
  { unfold cdiv.
    pose proof (Z.div_mod b alpha ltac:(lia)). pose proof (Z.mod_pos_bound b alpha ltac:(lia)).
    pose proof (Z.div_mod a alpha ltac:(lia)). pose proof (Z.mod_pos_bound a alpha ltac:(lia)).
    apply Z.div_le_lower_bound; [lia|]. nia. }
  assert (H2 : countn p n <= b / alpha - a / alpha); [|lia].
  apply (countn_pigeon n p (fun m => k m - a / alpha - 1)).
  - assert (a / alpha <= b / alpha) by (apply Z.div_le_mono; lia). lia.
  - intros m Hm Hp. specialize (Hk m Hm Hp).
    assert (k m <= b / alpha) by (apply Z.div_le_lower_bound; lia).
    assert (a / alpha < k m) by (apply Z.div_lt_upper_bound; lia). lia.
  - intros m r Hm Hr Hpm Hpr Heq. apply Hinj; auto. lia.
Qed.

(* The bounds are reached: jobs 7 apart from 0 on. *)
Example closed_is_tight : countn (fun m => Nat.ltb m 3) 3 = (14 - 0) / 7 + 1.
Proof. reflexivity. Qed.
Example closed_is_tight_apart : apart 3 (fun m => Nat.ltb m 3) (fun m => 7 * Z.of_nat m) 7.
Proof.
  unfold apart. intros m k Hm Hk _ _ Hne.
  destruct (Nat.lt_ge_cases m k); [left|right]; lia.
Qed.
Example open_is_tight :
  countn (fun m => Nat.ltb m 3) 3 = cdiv (8 + 7) 7 /\ cdiv (8 + 7) 7 = cdiv 8 7 + 1.
Proof. split; reflexivity. Qed.
