(* X(y) without its + 1. *)
(* weaken Edf.v s|<= due_passes (p_rs P) (p_g P) (z - x)\.|<= (if g_D (p_g P) <=? z - x then cdiv (suml (fun r => (z - x - g_D (p_g P) + r_J r) / r_T r * r_w r) (p_rs P)) (g_alpha (p_g P)) else 0).| *)
(* fails Edf.v passes_due *)
(* beside the theory as it is: the weakened test is written out here *)
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
  Processor [Request 3 22 15 0 1 3]
    (Collection 3 3 5 4 0 0) 1 4 10 13 0 1 0 0 1 4 6 1
    false 0 0 [].
Definition weak_trace : trace := Trace
  [Job 0 0 15 (Req 0) 3 3;
   Job 0 0 3 (Gc 1) 0 0]
  [Step 1 0 0 (APick 1) false;
   Step 1 0 1 (ACopy 1) false;
   Step 1 1 5 AErase true]
  6 3.
Definition weak_blocks (k : nat) : list block :=
  match k with
  | 0 => [Block Closed 0 1; Block Erased 4 0; Block Closed 0 1; Block Closed 0 2; Block Closed 0
      2; Block Closed 0 2; Block Closed 0 2; Block Closed 0 1; Block Closed 0 2; Block Open 2 0]
  | _ => []
  end%nat.

Example weak_parameters : parameters_ok weak_processor.
Proof. parameters. Qed.
(* It fits at every length up to L_max of the full test, beyond which that fits. *)
Definition weak_fits (L : Z) : bool :=
  let rs := p_rs weak_processor in
  let g := p_g weak_processor in
  1000 * (suml (fun r => due_jobs r L * r_C r) rs
    + (if g_D g <=? L
       then cdiv (suml (fun r => (L - g_D g + r_J r) / r_T r * r_w r) rs) (g_alpha g) else 0) * g_C g
    + blocking rs g L) <=? share g * L.
Example weak_accepted :
  load_fits (p_rs weak_processor) (p_g weak_processor) = true /\
  forallb (fun L => negb (existsb (fun d => d <=? L)
      (deadlines (p_rs weak_processor) (p_g weak_processor))) || weak_fits L)
    (instants (last_length (p_rs weak_processor) (p_g weak_processor) + 1)) = true.
Proof. split; vm_compute; reflexivity. Qed.
Example weak_obeys : obeys weak_processor weak_trace.
Proof. apply (obeysb_spec _ _ weak_blocks). vm_compute. reflexivity. Qed.
(* Job 1 misses its deadline, 3. *)
Example broken : missed weak_trace 1 /\ j_due (jb weak_trace 1) <= x_end weak_trace.
Proof. vm_compute. repeat split; discriminate. Qed.
