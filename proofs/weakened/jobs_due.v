(* n(L) without its + 1. *)
(* weaken Demand.v s|then (L - window r) / r_T r + 1 else 0|then (L - window r) / r_T r else 0| *)
(* fails Edf.v requests_due *)
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

Definition weak_processor : processor :=
  Processor [Request 2 7 2 0 2 1]
    (Collection 2 1 1 1 0 0) 1 1 6 1 0 2 0 0 1 1 1 0
    false 0 0 [].
Definition weak_trace : trace := Trace
  [Job 0 0 2 (Req 0) 1 1;
   Job 0 0 2 (Gc 1) 0 0]
  [Step 0 0 2 (AProg 1) true;
   Step 1 2 2 (APick 0) false;
   Step 1 2 3 AErase true]
  1 2.
Definition weak_blocks (k : nat) : list block :=
  match k with
  | 1 => [Block Closed 0 0; Block Closed 0 0; Block Closed 0 1; Block Closed 0 0; Block Closed 0
      0; Block Closed 0 0]
  | _ => []
  end%nat.

Example weak_parameters : parameters_ok weak_processor.
Proof. parameters. Qed.
Example weak_accepted : decide (p_rs weak_processor) (p_g weak_processor) = Accepted.
Proof. vm_compute. reflexivity. Qed.
Example weak_obeys : obeys weak_processor weak_trace.
Proof. apply (obeysb_spec _ _ weak_blocks). vm_compute. reflexivity. Qed.
(* Job 1 misses its deadline, 2. *)
Example broken : missed weak_trace 1 /\ j_due (jb weak_trace 1) <= x_end weak_trace.
Proof. vm_compute. repeat split; discriminate. Qed.
