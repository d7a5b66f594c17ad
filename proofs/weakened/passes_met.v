(* P_j without D_g: passes that are live though released before the window. *)
(* weaken Frontier.v s|cdiv (L + g_D (p_g P) + r_J r) (r_T r)|cdiv (L + r_J r) (r_T r)| *)
(* fails Frontier.v live_passes *)
(* beside the theory as it is: the weakened P_j is written out here *)
From Coq Require Import ZArith List Lia.
From Rtflash Require Import Sums Demand Trace Closing Examples Neighbours Frontier.
Open Scope Z_scope.

Definition weak_P_j (P : processor) (L : Z) : Z :=
  cdiv (suml (fun r => cdiv (L + r_J r) (r_T r) * r_w r) (p_rs P)) (g_alpha (p_g P)).
(* In the example of a superblock the jobs of two passes end between 29 and 49. *)
Example broken :
  in_time_up_to superblock_trace 48 /\
  weak_P_j superblock_processor 20 < suml (fun s =>
    if andb (is_gc superblock_trace (s_job s)) (live 29 49 s) then ind (s_last s) else 0)
    (x_steps superblock_trace).
Proof.
  split; [|reflexivity]. intros m Hm Hr Hd.
  apply (proj1 superblock_promises m Hm Hr). change (x_end superblock_trace) with 76. lia.
Qed.
