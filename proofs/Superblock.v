(* Section 4: how many reads and rows a pass over a superblock takes, so that R4_pass_step allows
   what the rule for passes brings about, and how much is buffered. *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Demand.
Import ListNotations.
Open Scope Z_scope.

(* Valid pages of the victim not yet read, chip by chip; pages buffered; reads, pages read, rows and
   copied pages so far. *)
Record under_pass := UnderPass {
  u_left : list Z; u_buffered : Z; u_reads : Z; u_pages : Z; u_rows : Z; u_copied : Z
}.

Definition total (l : list Z) : Z := suml (fun x => x) l.
Definition most (l : list Z) : Z := maxl (fun x => x) l.
Definition less_one (x : Z) : Z := Z.max 0 (x - 1).
Definition chips_left (l : list Z) : Z := suml (fun x => ind (0 <? x)) l.

Inductive all_below : list Z -> list Z -> Prop :=
  | below_nil : all_below [] []
  | below_cons : forall x y l r, 0 <= x <= y -> all_below l r -> all_below (x :: l) (y :: r).

(* A pass repeats: if s pages or more are buffered, or nothing is left to read and something is
   buffered, a row; otherwise, if something is left, a read of one page from every chip that has one.
   Meanwhile pages may be overwritten. *)
Inductive pass_move (s : Z) : under_pass -> under_pass -> Prop :=
  | overwritten : forall u l b, all_below l (u_left u) -> 0 <= b <= u_buffered u ->
      pass_move s u (UnderPass l b (u_reads u) (u_pages u) (u_rows u) (u_copied u))
  | row : forall u, s <= u_buffered u \/ (total (u_left u) = 0 /\ 0 < u_buffered u) ->
      pass_move s u (UnderPass (u_left u) (u_buffered u - Z.min s (u_buffered u)) (u_reads u)
        (u_pages u) (u_rows u + 1) (u_copied u + Z.min s (u_buffered u)))
  | gc_read : forall u, u_buffered u < s -> 0 < total (u_left u) ->
      pass_move s u (UnderPass (map less_one (u_left u))
        (u_buffered u + chips_left (u_left u)) (u_reads u + 1)
        (u_pages u + chips_left (u_left u)) (u_rows u) (u_copied u)).

Inductive pass_reaches (s : Z) (u : under_pass) : under_pass -> Prop :=
  | at_start : pass_reaches s u u
  | one_more : forall v w, pass_reaches s u v -> pass_move s v w -> pass_reaches s u w.

Lemma all_below_total : forall l r, all_below l r -> 0 <= total l <= total r.
Proof. unfold total. induction 1; simpl; lia. Qed.

Lemma all_below_most : forall l r, all_below l r -> most l <= most r.
Proof. unfold most. induction 1; simpl; lia. Qed.

Lemma all_below_left : forall l r, all_below l r ->
  length l = length r /\ forall x, In x l -> 0 <= x.
Proof.
  induction 1; simpl; [split; [reflexivity|intros x []]|].
  destruct IHall_below as [H1 H2]. split; [congruence|]. intros z [->|Hz]; [lia|auto].
Qed.

Lemma read_total : forall l, (forall x, In x l -> 0 <= x) ->
  total (map less_one l) + chips_left l = total l.
Proof.
  unfold total, chips_left, less_one, ind. induction l as [|x l IH]; simpl; intros H; [reflexivity|].
  assert (0 <= x) by (apply H; auto).
  rewrite <- IH by (intros; apply H; auto). destruct (Z.ltb_spec 0 x); lia.
Qed.

Lemma maxl_cons : forall {X} (f : X -> Z) x l, maxl f (x :: l) = Z.max (f x) (maxl f l).
Proof. reflexivity. Qed.

Lemma most_le_total : forall l, (forall x, In x l -> 0 <= x) -> most l <= total l.
Proof.
  unfold most, total. induction l as [|x l IH]; intros H; [simpl; lia|].
  rewrite maxl_cons, suml_cons. assert (0 <= x) by (apply H; simpl; auto).
  assert (maxl (fun x => x) l <= suml (fun x => x) l) by (apply IH; intros; apply H; simpl; auto).
  assert (0 <= suml (fun x => x) l) by (apply suml_nonneg; intros; apply H; simpl; auto). lia.
Qed.

Lemma read_most : forall l, (forall x, In x l -> 0 <= x) -> 0 < total l ->
  most (map less_one l) + 1 <= most l.
Proof.
  intros l H Ht.
  assert (Hm : 0 < most l).
  { assert (Hn : forall r, (forall x, In x r -> 0 <= x) -> 0 < total r -> 0 < most r).
    { unfold most, total. induction r as [|x r IH]; intros Hr Hrt; [simpl in Hrt; lia|].
      rewrite suml_cons in Hrt. rewrite maxl_cons.
      destruct (Z.le_gt_cases x 0) as [Hx|Hx]; [|lia].
      assert (0 < maxl (fun x => x) r) by (apply IH; [intros; apply Hr; simpl; auto|lia]). lia. }
    apply Hn; assumption. }
  assert (Hle : forall r, most (map less_one r) <= Z.max 0 (most r - 1)).
  { unfold most, less_one. induction r as [|x r IH]; [simpl; lia|].
    cbn [map]. rewrite !maxl_cons. lia. }
  specialize (Hle l). lia.
Qed.

Lemma chips_left_le : forall l, 0 <= chips_left l <= Z.of_nat (length l).
Proof.
  unfold chips_left, ind. induction l as [|x l IH]; simpl length; [simpl; lia|].
  rewrite Nat2Z.inj_succ. simpl. destruct (0 <? x); lia.
Qed.

(* A read reads a page at least. *)
Lemma chips_left_some : forall l, (forall x, In x l -> 0 <= x) -> 0 < total l -> 1 <= chips_left l.
Proof.
  unfold total. induction l as [|x l IH]; intros H Ht; [simpl in Ht; lia|].
  pose proof (chips_left_le l) as Hl. unfold chips_left, ind in *. simpl in Ht |- *.
  destruct (Z.ltb_spec 0 x); [lia|].
  assert (1 <= suml (fun x => if 0 <? x then 1 else 0) l); [|lia].
  apply IH; [intros; apply H; simpl; auto|]. lia.
Qed.

Section Pass.
  Variables s val P : Z.
  Variable start : list Z.
  Hypothesis chips : Z.of_nat (length start) = s /\ 1 <= s.
  Hypothesis valid : total start = val /\ most start <= P /\ forall x, In x start -> 0 <= x.

  Let begun := UnderPass start 0 0 0 0 0.

  Definition pass_invariant (u : under_pass) : Prop :=
    (forall x, In x (u_left u) -> 0 <= x) /\ length (u_left u) = length start /\
    0 <= u_buffered u <= 2 * s - 1 /\ 0 <= u_reads u /\ 0 <= u_rows u /\
    u_reads u + most (u_left u) <= Z.min val P /\
    u_reads u <= u_pages u /\ u_pages u + total (u_left u) <= val /\
    u_copied u + total (u_left u) + u_buffered u <= val /\
    (s * u_rows u + total (u_left u) + u_buffered u <= val \/
     (total (u_left u) = 0 /\ u_buffered u = 0 /\ s * (u_rows u - 1) + 1 <= val)).

  Lemma total_nonneg : forall l, (forall x, In x l -> 0 <= x) -> 0 <= total l.
  Proof. intros l H. apply suml_nonneg. assumption. Qed.

  Lemma pass_invariant_holds : forall u, pass_reaches s begun u -> pass_invariant u.
  Proof.
    induction 1 as [|v w Hr IH Hm].
    - destruct valid as [V1 [V2 V3]]. pose proof (most_le_total start V3).
      unfold pass_invariant, begun; cbn [u_left u_buffered u_reads u_pages u_rows u_copied].
      split; [assumption|]. split; [reflexivity|]. split; [lia|]. split; [lia|]. split; [lia|].
      split; [lia|]. split; [lia|]. split; [lia|]. split; [lia|]. left. lia.
    - destruct IH as [I1 [I2 [I3 [I4 [I5 [I6 [I9 [I10 [I7 I8]]]]]]]]].
      pose proof (total_nonneg (u_left v) I1) as Ht.
      inversion Hm; subst; unfold pass_invariant;
        cbn [u_left u_buffered u_reads u_pages u_rows u_copied].
      + pose proof (all_below_total _ _ H). pose proof (all_below_most _ _ H).
        destruct (all_below_left _ _ H) as [L1 L2].
        split; [assumption|]. split; [congruence|]. split; [lia|]. split; [lia|]. split; [lia|].
        split; [lia|]. split; [lia|]. split; [lia|]. split; [lia|].
        destruct I8; [left; lia|right; lia].
      + split; [assumption|]. split; [assumption|]. split; [lia|]. split; [lia|]. split; [lia|].
        split; [lia|]. split; [lia|]. split; [lia|]. split; [lia|].
        destruct H as [Hs|[H0 Hb]]; [left; destruct I8; lia|].
        destruct (Z.le_gt_cases s (u_buffered v)); [left; destruct I8; lia|].
        right. destruct I8; [split; [assumption|lia]|lia].
      + pose proof (read_total (u_left v) I1). pose proof (read_most (u_left v) I1 H0).
        pose proof (chips_left_le (u_left v)). pose proof (chips_left_some (u_left v) I1 H0).
        rewrite I2 in *.
        split.
        { intros x Hx. apply in_map_iff in Hx. destruct Hx as [y [<- Hy]]. unfold less_one. lia. }
        split; [rewrite map_length; assumption|]. split; [lia|]. split; [lia|]. split; [lia|].
        split; [lia|]. split; [lia|]. split; [lia|]. split; [lia|]. left. destruct I8; lia.
  Qed.

  (* At most min(v, P) reads, of a page at least and v in all; at most ⌈v/s⌉ rows; at most v pages
     copied, 2s - 1 buffered. *)
  Theorem superblock_pass : forall u, pass_reaches s begun u ->
    u_reads u <= Z.min val P /\ u_reads u <= u_pages u <= val /\
    u_rows u <= cdiv val s /\ u_copied u <= val /\
    u_buffered u <= 2 * s - 1.
  Proof.
    intros u Hu.
    destruct (pass_invariant_holds u Hu) as [I1 [I2 [I3 [I4 [I5 [I6 [I9 [I10 [I7 I8]]]]]]]]].
    pose proof (total_nonneg (u_left u) I1).
    pose proof (maxl_nonneg (fun x => x) (u_left u)) as Hmx. fold (most (u_left u)) in Hmx.
    split; [lia|]. split; [lia|]. split; [|split; lia].
    unfold cdiv. apply Z.div_le_lower_bound; [lia|]. destruct I8; lia.
  Qed.
End Pass.

(* Two chips with 3 and 1 valid pages: three reads, of four pages, two rows. *)
Example pass_example : exists u, pass_reaches 2 (UnderPass [3; 1] 0 0 0 0 0) u /\
  u_reads u = Z.min 4 3 /\ u_pages u = 4 /\ u_rows u = cdiv 4 2 /\ u_copied u = 4.
Proof.
  exists (UnderPass [0; 0] 0 3 4 2 4). split; [|repeat split].
  apply (one_more 2 _ (UnderPass [0; 0] 2 3 4 1 2)).
  - apply (one_more 2 _ (UnderPass [1; 0] 1 2 3 1 2)).
    + apply (one_more 2 _ (UnderPass [2; 0] 0 1 2 1 2)).
      * apply (one_more 2 _ (UnderPass [2; 0] 2 1 2 0 0)).
        -- apply (one_more 2 _ (UnderPass [3; 1] 0 0 0 0 0)); [apply at_start|].
           apply (gc_read 2 (UnderPass [3; 1] 0 0 0 0 0)); reflexivity.
        -- apply (row 2 (UnderPass [2; 0] 2 1 2 0 0)). left. discriminate.
      * apply (gc_read 2 (UnderPass [2; 0] 0 1 2 1 2)); reflexivity.
    + apply (gc_read 2 (UnderPass [1; 0] 1 2 3 1 2)); reflexivity.
  - apply (row 2 (UnderPass [0; 0] 2 3 4 1 2)). left. discriminate.
Qed.
