(* V3 without its bound: a page is programmed while a pass is due. *)
(* weaken Trace.v s|z_spass z = None /\\ server_ahead z < g_alpha (p_g P)|z_spass z = None /\\ server_ahead z <= g_alpha (p_g P)| *)
(* weaken Check.v s|(server_ahead P z <? g_alpha (p_g P))|(server_ahead P z <=? g_alpha (p_g P))| *)
(* fails Reserve.v invariant_begin *)
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
  Processor [Request 2 22 18 0 2 1]
    (Collection 18 1 5 5 300 5) 1 1 11 4 0 2 0 0 1 5 2 0
    true 1 1 [Served 0 1 3 64; Served 4 2 1 91; Served 5 0 3 151; Served 13 2 5 258; Served 22 2 5
        365].
Definition weak_trace : trace := Trace
  [Job 0 0 64 (Srv 0) 3 1;
   Job 4 4 22 (Req 0) 1 1;
   Job 4 4 91 (Srv 1) 1 2;
   Job 5 5 151 (Srv 2) 3 0;
   Job 4 4 22 (Gc 1) 0 0]
  [Step 0 0 1 ARead false;
   Step 0 1 2 (AProg 1) false;
   Step 0 2 3 (AProg 1) false;
   Step 0 3 3 (APick 0) false;
   Step 0 3 6 AErase false]
  2 5.
Definition weak_blocks (k : nat) : list block :=
  match k with
  | 3 => [Block Closed 0 0; Block Closed 0 0; Block Closed 0 1; Block Closed 0 0; Block Closed 0
      0; Block Closed 0 1; Block Closed 0 0; Block Closed 0 1; Block Closed 0 1; Block Closed 0 0;
      Block Closed 0 0]
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
  free_pages weak_processor weak_trace 4 < pending weak_processor weak_trace 4.
Proof. vm_compute. reflexivity. Qed.
