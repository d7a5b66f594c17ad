(* ⌈L/T⌉ for ⌈(L + D)/T⌉ in (34): a transfer of a request that was carried in is not counted. *)
(* weaken Channel.v s|cdiv (L + r_D r) (r_T r) \* r_C r|cdiv L (r_T r) * r_C r| *)
(* fails Channel.v transfers_live_registers *)
(* beside the theory as it is *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Demand Victims Sporadic Trace Check Closing Neighbours Registers
  CheckRegisters Channel.
Import ListNotations.
Open Scope Z_scope.

(* A page every 10; the first is on the bus from 5 to 9, the second from 11 to 15. *)
Definition weak_device : device := Device 1 5 3 4 2.
Definition weak_processor : processor := cached_stripe weak_device
  [Demanded false 1 10 10 0] (Stated 1 1 1 1 0 false []) 3 2 1.
Definition weak_trace : rtrace := RTrace
  [Job 0 0 10 (Req 0) 0 1; Job 10 10 20 (Req 0) 0 1]
  [RStep 0 0 1 1 9 ARead true; RStep 1 10 11 11 15 ARead true] 1 20.
Definition granted (k : nat) : Z := match k with O => 5 | _ => 11 end.
Definition over_at (k : nat) : Z := match k with O => 9 | _ => 15 end.

Example weak_obeys : obeys_registers weak_device weak_processor weak_trace.
Proof. apply (registersb_spec _ _ _ (fun _ => [])). vm_compute. reflexivity. Qed.
(* Both are on the bus in (8, 12); one request arrives in 4. *)
Example broken :
  transfers_of 2 (fun _ => 0) granted over_at 8 12 0 = 2 /\
  pages_live (p_rs weak_processor) 4 = 2 /\
  suml (fun r => cdiv 4 (r_T r) * r_C r) (p_rs weak_processor) = 1.
Proof. repeat split; reflexivity. Qed.
