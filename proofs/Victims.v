(* Section 2.5: Lemma 3, victims are cheap. A state of the processor's blocks, seen when a victim is
   chosen; nothing is supposed about how valid pages are spread. *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums.
Import ListNotations.
Open Scope Z_scope.

Inductive condition := Erased | Open | Closed | UnderWay.

Record block := Block { b_is : condition; b_free : Z; b_valid : Z }.

Definition is_erased (b : block) : bool := match b_is b with Erased => true | _ => false end.
Definition is_open (b : block) : bool := match b_is b with Open => true | _ => false end.
Definition is_closed (b : block) : bool := match b_is b with Closed => true | _ => false end.
Definition is_under_way (b : block) : bool := match b_is b with UnderWay => true | _ => false end.

Definition number (p : block -> bool) (l : list block) : Z := suml (fun b => ind (p b)) l.

(* A block is erased, open (with free pages left, untouched or not), closed (its last page is
   programmed), or closed with a pass at work on it. *)
Definition block_ok (PP : Z) (b : block) : Prop :=
  0 <= b_valid b /\
  match b_is b with
  | Erased => b_free b = PP
  | Open => 1 <= b_free b <= PP
  | Closed | UnderWay => b_free b = 0
  end.

(* N blocks with f free pages; one is open at most; others pages' passes work on `others` blocks at
   most; a logical page is valid in one place at most, so there are Lam valid pages at most. *)
Definition blocks_ok (PP N Lam others f : Z) (l : list block) : Prop :=
  Z.of_nat (length l) = N /\
  (forall b, In b l -> block_ok PP b) /\
  suml b_free l = f /\
  number is_open l <= 1 /\
  number is_under_way l <= others /\
  suml b_valid l <= Lam.

(* R4: the victim is the block with the fewest valid pages among the closed ones that no pass works
   on. *)
Definition fewest_valid (l : list block) (val : Z) : Prop :=
  (exists b, In b l /\ is_closed b = true /\ b_valid b = val) /\
  forall b, In b l -> is_closed b = true -> val <= b_valid b.

(* (9) and (10), with one block more where there is a server. *)
Definition not_eligible (PP H W : Z) (server : bool) : Z := (H - 1 + W) / PP + 1 + ind server.

Lemma blocks_by_condition : forall l,
  Z.of_nat (length l) =
  number is_erased l + number is_open l + number is_closed l + number is_under_way l.
Proof.
  unfold number, is_erased, is_open, is_closed, is_under_way, ind.
  induction l; simpl length; [reflexivity|].
  rewrite Nat2Z.inj_succ. simpl suml. destruct (b_is a); lia.
Qed.

Lemma free_pages_of_blocks : forall PP l, 1 <= PP -> (forall b, In b l -> block_ok PP b) ->
  PP * number is_erased l + number is_open l <= suml b_free l.
Proof.
  intros PP. induction l; intros HP H; [unfold number; simpl; lia|].
  assert (IH : PP * number is_erased l + number is_open l <= suml b_free l)
    by (apply IHl; auto; intros; apply H; right; assumption).
  assert (Ha : block_ok PP a) by (apply H; left; reflexivity).
  unfold number in *. cbn [suml fold_right] in *.
  fold (suml (fun b => ind (is_erased b)) l) (suml (fun b => ind (is_open b)) l) (suml b_free l).
  unfold suml in *.
  unfold block_ok in Ha. unfold is_erased at 1, is_open at 1, ind at 1, ind at 2.
  destruct (b_is a); nia.
Qed.

Lemma valid_pages_of_closed : forall l k, 0 <= k ->
  (forall b, In b l -> 0 <= b_valid b) ->
  (forall b, In b l -> is_closed b = true -> k <= b_valid b) ->
  k * number is_closed l <= suml b_valid l.
Proof.
  intros l k Hk H0 H. unfold number. induction l; simpl; [lia|].
  assert (k * suml (fun b => ind (is_closed b)) l <= suml b_valid l)
    by (apply IHl; intros; [apply H0|apply H]; simpl; auto).
  assert (0 <= b_valid a) by (apply H0; simpl; auto).
  unfold ind at 1. destruct (is_closed a) eqn:E; [|lia].
  assert (k <= b_valid a) by (apply H; simpl; auto). lia.
Qed.

(* Lemma 3. R3 gives f <= H - 1 + b, the requests pending at one time give b <= W. *)
Theorem lemma_3 : forall PP N Lam H W v (server : bool) others f b l val,
  1 <= PP ->
  not_eligible PP H W server < N ->
  Lam / (N - not_eligible PP H W server) <= v ->       (* (10), or (C4) *)
  others <= ind server ->
  f - b < H ->                                          (* R3: not void *)
  b <= W ->                                             (* no request is late *)
  blocks_ok PP N Lam others f l ->
  fewest_valid l val ->                                 (* R4 *)
  0 <= val <= v.
Proof.
  intros PP N Lam H W v server others f b l val HP HF Hv Ho HR3 HW Hb [[c [Hc1 [Hc2 Hc3]]] Hmin].
  destruct Hb as [HN [Hok [Hf [Hopen [Hway HL]]]]].
  assert (H0 : forall x, In x l -> 0 <= b_valid x).
  { intros x Hx. destruct (Hok x Hx). assumption. }
  assert (Hval : 0 <= val) by (rewrite <- Hc3; apply H0; assumption).
  split; [assumption|].
  pose proof (free_pages_of_blocks PP l HP Hok) as HE. rewrite Hf in HE.
  pose proof (valid_pages_of_closed l val Hval H0 Hmin) as HV.
  pose proof (blocks_by_condition l) as HB.
  set (F := not_eligible PP H W server) in *.
  assert (HEO : number is_erased l + number is_open l <= (H - 1 + W) / PP + 1).
  { assert (Hq : number is_erased l <= (H - 1 + W) / PP) by (apply Z.div_le_lower_bound; [lia|];
      assert (0 <= number is_open l) by (apply suml_nonneg; intros; unfold ind;
        destruct (is_open x); lia); lia).
    lia. }
  assert (HC : N - F <= number is_closed l).
  { unfold F, not_eligible in *. lia. }
  assert (val * (N - F) <= Lam).
  { assert (val * (N - F) <= val * number is_closed l) by (apply Z.mul_le_mono_nonneg_l; lia). lia. }
  assert (val <= Lam / (N - F)) by (apply Z.div_le_lower_bound; lia). lia.
Qed.

(* Not vacuous: four blocks of 4 pages, 5 logical pages, H = 6, W = 1. *)
Definition example_blocks : list block :=
  [Block Erased 4 0; Block Open 2 1; Block Closed 0 2; Block Closed 0 2].

Example lemma_3_example :
  not_eligible 4 6 1 false < 4 /\ 5 / (4 - not_eligible 4 6 1 false) = 2 /\ 6 - 1 < 6 /\
  blocks_ok 4 4 5 0 6 example_blocks /\ fewest_valid example_blocks 2.
Proof.
  unfold not_eligible, ind, blocks_ok, fewest_valid, block_ok. simpl.
  split; [reflexivity|]. split; [reflexivity|]. split; [lia|]. split.
  - split; [reflexivity|]. split; [|unfold number, suml, ind; simpl; lia].
    intros b [<-|[<-|[<-|[<-|[]]]]]; simpl; lia.
  - split; [exists (Block Closed 0 2); simpl; auto 6|].
    intros b [<-|[<-|[<-|[<-|[]]]]]; simpl; intros; try discriminate; lia.
Qed.
