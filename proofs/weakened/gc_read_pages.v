(* C_g (27) with a page less read beside others: v - n - 1 for v - n. *)
(* weaken Trace.v s|(Z.min (p_v P) (p_P P)) (p_v P) +|(Z.min (p_v P) (p_P P)) (p_v P - 1) +| *)
(* fails Costs.v pass_within_cost *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Demand Victims Sporadic Trace Check.
Import ListNotations.
Open Scope Z_scope.

Ltac each H :=
  simpl in H; repeat (destruct H as [<-|H]; [unfold request_ok; simpl; lia|]); contradiction.
Ltac parameters :=
  constructor; [intros r H; each H| | | |vm_compute; discriminate|vm_compute; discriminate
    |vm_compute; reflexivity|vm_compute; discriminate|vm_compute; discriminate
    | | |intros j H; each H];
  try (unfold collection_ok; simpl; lia); try (simpl; repeat split; intros; try lia; discriminate).

(* A superblock of two chips: victims have 3 valid pages, so that a pass reads twice. *)
Definition weak_processor : processor :=
  Processor [Request 1 40 6 0 1 1]
    (Collection 6 1 5 3 0 0) 2 4 9 27 2 3 1 1 1 1 4 3
    false 0 0 [].
Definition weak_trace : trace := Trace
  [Job 0 0 6 (Req 0) 1 1;
   Job 0 0 6 (Gc 1) 0 0]
  [Step 1 0 0 (APick 3) false;
   Step 1 0 2 (AGcRead 2) false;
   Step 1 2 3 (ACopy 2) false;
   Step 1 3 4 (AGcRead 1) false;
   Step 1 4 5 (ACopy 1) false;
   Step 1 5 6 AErase true;
   Step 0 6 7 (AProg 1) true]
  4 6.
Definition weak_blocks (k : nat) : list block :=
  match k with
  | 0 => [Block Closed 0 3; Block Closed 0 3; Block Closed 0 3; Block Closed 0 3; Block Closed 0
      3; Block Closed 0 3; Block Closed 0 3; Block Closed 0 3; Block Erased 4 0]
  | _ => []
  end%nat.

Example weak_parameters : parameters_ok weak_processor.
Proof. parameters. Qed.
Example weak_accepted : decide (p_rs weak_processor) (p_g weak_processor) = Accepted.
Proof. vm_compute. reflexivity. Qed.
Example weak_obeys : obeys weak_processor weak_trace.
Proof. apply (obeysb_spec _ _ weak_blocks). vm_compute. reflexivity. Qed.
(* Job 0 misses its deadline, 6. *)
Example broken : missed weak_trace 0 /\ j_due (jb weak_trace 0) <= x_end weak_trace.
Proof. vm_compute. repeat split; discriminate. Qed.
