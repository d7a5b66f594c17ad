(* F less a block. *)
(* weaken Victims.v s|(H - 1 + W) / PP + 1 + ind server|(H - 1 + W) / PP + ind server| *)
(* fails Victims.v lemma_3 *)
(* beside the theory as it is: the weakened F is written out here *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Victims.
Import ListNotations.
Open Scope Z_scope.

(* 4 blocks of 4 pages, H - 1 + W = 3 pages free at most, 7 valid ones: v would be 7/(4 - 0) = 1. *)
Definition weak_F (PP H W : Z) (server : bool) : Z := (H - 1 + W) / PP + ind server.
Definition weak_blocks : list block :=
  [Block Open 3 1; Block Closed 0 2; Block Closed 0 2; Block Closed 0 2].
Example broken :
  7 / (4 - weak_F 4 3 1 false) = 1 /\ 3 - 1 < 3 /\
  blocks_ok 4 4 7 0 3 weak_blocks /\ fewest_valid weak_blocks 2.
Proof.
  unfold weak_F, ind, blocks_ok, fewest_valid, block_ok. simpl.
  split; [reflexivity|]. split; [reflexivity|]. split.
  - split; [reflexivity|]. split; [|unfold number, suml, ind; simpl; lia].
    intros b [<-|[<-|[<-|[<-|[]]]]]; simpl; lia.
  - split; [exists (Block Closed 0 2); simpl; auto 6|].
    intros b [<-|[<-|[<-|[<-|[]]]]]; simpl; intros; try discriminate; lia.
Qed.
