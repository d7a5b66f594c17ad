(* Section 1: a page map keeps what R4_victim supposes of the blocks. Every logical page is in one
   block at most; pages are programmed into one open block; a block is closed when its last page is
   programmed; a victim is erased when nothing valid is left in it. *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Victims.
Import ListNotations.
Open Scope Z_scope.

(* Condition and free pages of each block, and where each logical page is. *)
Record map := Map { f_is : nat -> condition; f_free : nat -> Z; f_at : nat -> option nat }.

Definition set {A : Type} (g : nat -> A) (k : nat) (a : A) : nat -> A :=
  fun m => if Nat.eqb m k then a else g m.

Section Flash.
  Variables N pages : nat.     (* blocks, logical pages *)
  Variable PP : Z.
  Hypothesis PP_positive : 1 <= PP.

  Definition holds_page (z : map) (b l : nat) : bool :=
    match f_at z l with Some c => Nat.eqb c b | None => false end.
  Definition valid_in (z : map) (b : nat) : Z := countn (holds_page z b) pages.
  Definition free_in_all (z : map) : Z := sumn (f_free z) N.
  Definition blocks_of (z : map) : list block :=
    List.map (fun b => Block (f_is z b) (f_free z b) (valid_in z b)) (seq 0 N).
  Definition open_blocks (z : map) : Z :=
    sumn (fun b => match f_is z b with Open => 1 | _ => 0 end) N.
  Definition victims (z : map) : Z :=
    sumn (fun b => match f_is z b with UnderWay => 1 | _ => 0 end) N.

  (* A page programmed, for a user or as a copy; a block opened; a victim chosen; a victim erased;
     a page trimmed or gone otherwise. *)
  Inductive event : map -> map -> Prop :=
    | programs : forall z b l, (b < N)%nat -> (l < pages)%nat -> f_is z b = Open ->
        event z (Map (set (f_is z) b (if f_free z b =? 1 then Closed else Open))
                     (set (f_free z) b (f_free z b - 1)) (set (f_at z) l (Some b)))
    | opens : forall z b, (b < N)%nat -> f_is z b = Erased -> open_blocks z = 0 ->
        event z (Map (set (f_is z) b Open) (f_free z) (f_at z))
    | picks : forall z b, (b < N)%nat -> f_is z b = Closed ->
        event z (Map (set (f_is z) b UnderWay) (f_free z) (f_at z))
    | erases : forall z b, (b < N)%nat -> f_is z b = UnderWay -> valid_in z b = 0 ->
        event z (Map (set (f_is z) b Erased) (set (f_free z) b PP) (f_at z))
    | forgets : forall z l, event z (Map (f_is z) (f_free z) (set (f_at z) l None)).

  Definition map_ok (z : map) : Prop :=
    (forall b, (b < N)%nat ->
      match f_is z b with
      | Erased => f_free z b = PP
      | Open => 1 <= f_free z b <= PP
      | Closed | UnderWay => f_free z b = 0
      end) /\ open_blocks z <= 1.

  Lemma sumn_set : forall n (g : nat -> Z) k a, (k < n)%nat ->
    sumn (set g k a) n = sumn g n - g k + a.
  Proof.
    unfold set. induction n; simpl; intros g k a Hk; [lia|].
    destruct (Nat.eqb_spec n k) as [->|Hne].
    - rewrite (sumn_ext k (fun m => if Nat.eqb m k then a else g m) g); [lia|].
      intros m Hm. destruct (Nat.eqb_spec m k); [lia|reflexivity].
    - rewrite IHn by lia. lia.
  Qed.

  Lemma opened : forall z b c, (b < N)%nat ->
    open_blocks (Map (set (f_is z) b c) (f_free z) (f_at z))
    = open_blocks z - (match f_is z b with Open => 1 | _ => 0 end)
      + match c with Open => 1 | _ => 0 end.
  Proof.
    intros z b c Hb. unfold open_blocks; simpl.
    rewrite <- (sumn_set N (fun b => match f_is z b with Open => 1 | _ => 0 end) b _ Hb).
    apply sumn_ext. intros m _. unfold set. destruct (Nat.eqb m b); reflexivity.
  Qed.

  (* Every event keeps it; f falls by a page that is programmed, and grows by PP with an erase. *)
  Theorem map_stays_ok : forall z w, event z w -> map_ok z -> map_ok w.
  Proof.
    intros z w He [H1 H2]. destruct He; unfold map_ok; simpl.
    - pose proof (opened z b (if f_free z b =? 1 then Closed else Open) H) as Ho.
      unfold open_blocks in *; simpl in *. pose proof (H1 b H) as Hb. rewrite H3 in *.
      split.
      + intros c Hc. unfold set. destruct (Nat.eqb_spec c b) as [->|]; [|apply H1; assumption].
        destruct (Z.eqb_spec (f_free z b) 1); lia.
      + destruct (f_free z b =? 1); lia.
    - pose proof (opened z b Open H) as Ho. unfold open_blocks in *; simpl in *. rewrite H0 in *.
      split; [|lia]. intros c Hc. unfold set. destruct (Nat.eqb_spec c b) as [->|];
        [|apply H1; assumption].
      specialize (H1 b Hc). rewrite H0 in H1. lia.
    - pose proof (opened z b UnderWay H) as Ho. unfold open_blocks in *; simpl in *.
      rewrite H0 in *. split; [|lia]. intros c Hc. unfold set.
      destruct (Nat.eqb_spec c b) as [->|]; [|apply H1; assumption].
      specialize (H1 b Hc). rewrite H0 in H1. assumption.
    - pose proof (opened z b Erased H) as Ho. unfold open_blocks in *; simpl in *.
      rewrite H0 in *. split; [|lia]. intros c Hc. unfold set.
      destruct (Nat.eqb_spec c b) as [->|]; [reflexivity|apply H1; assumption].
    - split; assumption.
  Qed.

  Theorem free_pages_change : forall z w, event z w -> map_ok z ->
    free_in_all w = free_in_all z - 1 \/ free_in_all w = free_in_all z + PP \/
    free_in_all w = free_in_all z.
  Proof.
    intros z w He [H1 _]. unfold free_in_all. destruct He; simpl; auto.
    - left. rewrite sumn_set by assumption. lia.
    - right. left. rewrite sumn_set by assumption. specialize (H1 b H). rewrite H0 in H1. lia.
  Qed.

  Lemma suml_seq : forall {A : Type} (g : A -> Z) (h : nat -> A) n,
    suml g (List.map h (seq 0 n)) = sumn (fun b => g (h b)) n.
  Proof.
    intros A g h. induction n; [reflexivity|].
    rewrite seq_S, map_app, suml_app, IHn. simpl. lia.
  Qed.

  (* A logical page is valid in one block at most: so valid pages are Lam at most. *)
  Lemma valid_at_most : forall z, sumn (valid_in z) N <= Z.of_nat pages.
  Proof.
    intros z. unfold valid_in, countn.
    rewrite <- (sumn_swap pages N (fun b l => ind (holds_page z b l))).
    assert (H : sumn (fun l => sumn (fun b => ind (holds_page z b l)) N) pages
      <= sumn (fun _ => 1) pages).
    { apply sumn_le. intros l _. change (countn (fun b => holds_page z b l) N <= 1).
      apply countn_le_one. intros b c _ _ Hb Hc. unfold holds_page in *.
      destruct (f_at z l); [|discriminate].
      apply Nat.eqb_eq in Hb. apply Nat.eqb_eq in Hc. congruence. }
    assert (Hone : forall n, sumn (fun _ => 1) n = Z.of_nat n) by (induction n; simpl sumn; lia).
    rewrite Hone in H. exact H.
  Qed.

  (* What Lemma 3 supposes of the blocks. *)
  Theorem blocks_of_map : forall z, map_ok z ->
    blocks_ok PP (Z.of_nat N) (Z.of_nat pages) (victims z) (free_in_all z) (blocks_of z).
  Proof.
    intros z [H1 H2]. unfold blocks_ok, blocks_of, number. rewrite map_length, seq_length.
    split; [reflexivity|]. split; [|rewrite !suml_seq].
    - intros b Hb. apply in_map_iff in Hb. destruct Hb as [c [<- Hc]]. apply in_seq in Hc.
      unfold block_ok; simpl. split; [apply countn_nonneg|]. apply H1. lia.
    - simpl. split; [reflexivity|]. split; [|split; [|apply valid_at_most]].
      + apply (Z.le_trans _ (open_blocks z)); [|assumption]. unfold open_blocks, is_open, ind.
        apply sumn_le. intros b _. simpl. destruct (f_is z b); lia.
      + unfold victims, is_under_way, ind. apply sumn_le. intros b _. simpl.
        destruct (f_is z b); lia.
  Qed.
End Flash.

(* Not vacuous: three blocks of two pages, all erased; one is opened and a page programmed. *)
Definition erased_map : map := Map (fun _ => Erased) (fun _ => 2) (fun _ => None).
Example map_example : exists z, event 3 2 2 erased_map z /\ map_ok 3 2 erased_map /\
  map_ok 3 2 z /\ free_in_all 3 z = 6.
Proof.
  exists (Map (set (fun _ => Erased) 0%nat Open) (fun _ => 2) (fun _ => None)).
  assert (E : map_ok 3 2 erased_map) by (split; [intros; reflexivity|vm_compute; discriminate]).
  assert (V : event 3 2 2 erased_map
    (Map (set (fun _ => Erased) 0%nat Open) (fun _ => 2) (fun _ => None))).
  { apply (opens 3 2 2 erased_map 0); [lia|reflexivity|reflexivity]. }
  split; [exact V|]. split; [exact E|]. split; [|reflexivity].
  apply (map_stays_ok 3 2 2 ltac:(lia) _ _ V E).
Qed.
