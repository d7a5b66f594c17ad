(* (32) without the deadline before: d_j = a_j + ⌈C_j/U_s⌉. *)
(* weaken Trace.v s|Z.max (sv_a (sj j)) (deadline_before j) + cdiv|sv_a (sj j) + cdiv| *)
(* weaken Check.v s|Z.max (sv_a (sj P j)) (deadline_before P j) + cdiv|sv_a (sj P j) + cdiv| *)
(* fails Server.v lemma_11 *)
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
  Processor [Request 2 23 18 0 2 1; Request 1 25 22 0 1 1]
    (Collection 17 3 1 1 500 4) 1 3 9 1 0 2 0 0 4 1 7 0
    true 1 2 [Served 3 1 0 5; Served 8 0 3 22; Served 9 1 4 29; Served 11 1 4 31; Served 20 2 5 48].
Definition weak_trace : trace := Trace
  [Job 0 0 22 (Req 1) 1 1;
   Job 3 3 5 (Srv 0) 0 1;
   Job 8 8 22 (Srv 1) 3 0;
   Job 9 9 29 (Srv 2) 4 1;
   Job 11 11 31 (Srv 3) 4 1;
   Job 16 16 34 (Req 0) 1 1;
   Job 20 20 48 (Srv 4) 5 2;
   Job 25 25 47 (Req 1) 1 1;
   Job 25 25 42 (Gc 1) 0 0]
  [Step 0 0 1 (AProg 1) true;
   Step 1 3 4 ARead true;
   Step 2 8 10 (AProg 1) false;
   Step 2 10 12 (AProg 1) false;
   Step 2 12 14 (AProg 1) false;
   Step 2 14 14 (APick 0) false;
   Step 2 14 15 AErase true;
   Step 3 15 16 ARead false;
   Step 3 16 18 (AProg 1) false;
   Step 3 18 20 (AProg 1) false;
   Step 3 20 22 (AProg 1) false;
   Step 3 22 22 (APick 0) false;
   Step 3 22 23 AErase false;
   Step 3 23 25 (AProg 1) true;
   Step 4 25 26 ARead false;
   Step 4 26 28 (AProg 1) false;
   Step 4 28 30 (AProg 1) false;
   Step 4 30 30 (APick 0) false;
   Step 4 30 31 AErase false;
   Step 4 31 33 (AProg 1) false;
   Step 4 33 35 (AProg 1) true]
  7 34.
Definition weak_blocks (k : nat) : list block :=
  match k with
  | 5 => [Block Closed 0 1; Block Closed 0 0; Block Closed 0 0; Block Closed 0 0; Block Closed 0
      0; Block Erased 3 0; Block Closed 0 0; Block Closed 0 0; Block Closed 0 0]
  | 11 => [Block Closed 0 0; Block Closed 0 1; Block Closed 0 0; Block Closed 0 0; Block Closed 0
      0; Block Erased 3 0; Block Closed 0 0; Block Closed 0 0; Block Closed 0 0]
  | 17 => [Block Closed 0 1; Block Closed 0 0; Block Closed 0 0; Block Closed 0 0; Block Closed 0
      0; Block Erased 3 0; Block Closed 0 0; Block Closed 0 0; Block Closed 0 0]
  | _ => []
  end%nat.

Example weak_parameters : parameters_ok weak_processor.
Proof. parameters. Qed.
Example weak_accepted : decide (p_rs weak_processor) (p_g weak_processor) = Accepted.
Proof. vm_compute. reflexivity. Qed.
Example weak_obeys : obeys weak_processor weak_trace.
Proof. apply (obeysb_spec _ _ weak_blocks). vm_compute. reflexivity. Qed.
(* Job 5 misses its deadline, 34. *)
Example broken : missed weak_trace 5 /\ j_due (jb weak_trace 5) <= x_end weak_trace.
Proof. vm_compute. repeat split; discriminate. Qed.
