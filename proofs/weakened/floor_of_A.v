(* A with ⌊D_g/T⌋ for ⌈D_g/T⌉. *)
(* weaken Trace.v s|cdiv (g_D (p_g P) + r_J r) (r_T r) \* r_w r|(g_D (p_g P) + r_J r) / r_T r * r_w r| *)
(* fails Reserve.v A_of_several_writers *)
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
  Processor [Request 6 25 24 1 3 2]
    (Collection 13 2 4 2 0 0) 1 4 11 24 0 1 0 0 1 2 3 2
    false 0 0 [].
Definition weak_trace : trace := Trace
  [Job 6 6 30 (Req 0) 2 2;
   Job 6 6 19 (Gc 1) 0 0]
  [Step 1 6 6 (APick 2) false;
   Step 1 6 7 (ACopy 1) false;
   Step 1 7 8 (ACopy 1) false;
   Step 1 8 10 AErase true]
  3 8.
Definition weak_blocks (k : nat) : list block :=
  match k with
  | 0 => [Block Closed 0 2; Block Closed 0 2; Block Closed 0 3; Block Closed 0 3; Block Closed 0
      2; Block Closed 0 2; Block Closed 0 2; Block Closed 0 3; Block Closed 0 2; Block Closed 0 3;
      Block Open 3 0]
  | _ => []
  end%nat.

Example weak_parameters : parameters_ok weak_processor.
Proof. parameters. Qed.
Example weak_accepted : decide (p_rs weak_processor) (p_g weak_processor) = Accepted.
Proof. vm_compute. reflexivity. Qed.
Example weak_obeys : obeys weak_processor weak_trace.
Proof. apply (obeysb_spec _ _ weak_blocks). vm_compute. reflexivity. Qed.
(* A page is lacking: f < b. *)
Example broken :
  free_pages weak_processor weak_trace 7 < pending weak_processor weak_trace 7.
Proof. vm_compute. reflexivity. Qed.
