(* Section 13: the model of a chip with two page registers, the rules X1 to X4, and the test (T2).
   While a page is on the bus from or to the cache register, the array senses or programs another.

   What a step does to the counters, R1 to R5, the requests and EDF are the rules of Trace.v, of a
   trace in which a user's step is over an instant after it began: a page counts in f, b and c from
   the time that it is committed, and EDF is among jobs with a step not begun. *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Demand Victims Sporadic Trace Closing.
Import ListNotations.
Open Scope Z_scope.

(* (61): from a request for the bus to the end of its transfer, at most. *)
Definition bus (d : device) : Z := m_c d * t_d d.

(* A step: it begins (a page is sensed or committed, a copy or an erase begins, a job is found void,
   a victim chosen); it is ready (sensed; loaded); it moves (into the cache register; out of it, as
   the array begins to program it); it ends (transferred; programmed; copied; erased). *)
Record rstep := RStep {
  g_job : nat; g_st : Z; g_ready : Z; g_move : Z; g_en : Z; g_act : action; g_last : bool
}.

Record rtrace := RTrace { v_jobs : list job; v_steps : list rstep; v_f0 : Z; v_end : Z }.

(* When the array has a step, and when the cache register has its page. *)
Definition array_from (s : rstep) : Z := if is_prog (g_act s) then g_move s else g_st s.
Definition array_until (s : rstep) : Z := if is_read (g_act s) then g_move s else g_en s.
Definition register_from (s : rstep) : Z :=
  if is_read (g_act s) then g_move s else if is_prog (g_act s) then g_st s else 0.
Definition register_until (s : rstep) : Z :=
  if is_read (g_act s) then g_en s else if is_prog (g_act s) then g_move s else 0.

Definition array_has (s : rstep) (t : Z) : Prop := array_from s <= t < array_until s.
Definition register_has (s : rstep) (t : Z) : Prop := register_from s <= t < register_until s.

(* The chip at t, after the steps l have begun. *)
Definition array_idle (l : list rstep) (t : Z) : Prop := forall r, In r l -> ~ array_has r t.
Definition idle_or_programs (l : list rstep) (t : Z) : Prop :=
  forall r, In r l -> is_prog (g_act r) = false -> ~ array_has r t.
Definition register_empty (l : list rstep) (t : Z) : Prop := forall r, In r l -> ~ register_has r t.
Definition none_committed (l : list rstep) (t : Z) : Prop :=
  forall r, In r l -> is_prog (g_act r) = true -> ~ register_has r t.

(* A page is read; one is programmed; collection. *)
Inductive kind := KRead | KProg | KPass.
Definition kind_of (a : action) : kind :=
  match a with ARead => KRead | AProg _ => KProg | _ => KPass end.

Definition may_begin (k : kind) (l : list rstep) (t : Z) : Prop :=
  match k with
  | KRead => array_idle l t /\ none_committed l t          (* X1 *)
  | KProg => register_empty l t /\ idle_or_programs l t    (* X2 *)
  | KPass => array_idle l t /\ register_empty l t          (* X3 *)
  end.

(* Whether all steps of job m have begun. *)
Definition begun (l : list rstep) (m : nat) : bool :=
  existsb (fun s => Nat.eqb (g_job s) m && g_last s) l.

(* For the counters. *)
Definition counted_step (s : rstep) : step :=
  Step (g_job s) (g_st s)
    (match kind_of (g_act s) with KPass => g_en s | _ => g_st s + 1 end) (g_act s) (g_last s).
Definition counted_trace (X : rtrace) : trace :=
  Trace (v_jobs X) (map counted_step (v_steps X)) (v_f0 X) (v_end X).

Section Registers.
  Variable d : device.
  Variable P : processor.
  Variable X : rtrace.

  Let n := length (v_jobs X).
  Definition vjb (m : nat) : job := nth m (v_jobs X) (Job 0 0 0 Bg 0 0).

  (* A request reads or writes. *)
  Definition job_kind (m : nat) : kind :=
    match j_class (vjb m) with
    | Req i => if r_w (rq P i) =? 0 then KRead else KProg
    | _ => KPass
    end.

  (* The first job by EDF of those that have a step not begun; ties by their numbers. *)
  Definition before (m k : nat) : Prop :=
    j_due (vjb m) < j_due (vjb k) \/ (j_due (vjb m) = j_due (vjb k) /\ (m < k)%nat).
  Definition waiting (l : list rstep) (t : Z) (m : nat) : Prop :=
    (m < n)%nat /\ j_rel (vjb m) <= t /\ begun l m = false.
  Definition first_job (l : list rstep) (t : Z) (m : nat) : Prop :=
    waiting l t m /\ forall k, waiting l t k -> k = m \/ before m k.

  (* X4: a page that is sensed takes the register when that is empty, one that is committed is
     programmed when it is there and the array is idle. *)
  Definition X4_times (l : list rstep) (s : rstep) : Prop :=
    match kind_of (g_act s) with
    | KRead =>
        1 <= g_ready s - g_st s <= t_r d /\ g_ready s <= g_move s /\ register_empty l (g_move s) /\
        (forall t, g_ready s <= t < g_move s -> ~ register_empty l t) /\
        1 <= g_en s - g_move s
    | KProg =>
        1 <= g_ready s - g_st s /\ g_ready s <= g_move s /\ array_idle l (g_move s) /\
        (forall t, g_ready s <= t < g_move s -> ~ array_idle l t) /\
        1 <= g_en s - g_move s <= t_w d
    | KPass => True (* its times are those of the pass: `counted` *)
    end.

  (* When a step has its page in the register asked for the bus, and when the transfer is over. *)
  Definition asked (s : rstep) : Z := if is_read (g_act s) then g_move s else g_st s.
  Definition moved (s : rstep) : Z := if is_read (g_act s) then g_en s else g_ready s.

  Record registers_rules : Prop := {
    (* R1 to R5, requests, how many steps a job has, and the order of steps. *)
    x_counted : counted P (counted_trace X);
    (* Neither a server nor background jobs. *)
    x_real_time : forall m, (m < n)%nat -> real_time (counted_trace X) m = true;
    x_kind : forall s, In s (v_steps X) -> kind_of (g_act s) = job_kind (g_job s);
    X1_X2_X3 : forall l s r, v_steps X = l ++ s :: r ->
      may_begin (kind_of (g_act s)) l (g_st s);
    X3_first : forall l s r, v_steps X = l ++ s :: r -> first_job l (g_st s) (g_job s);
    (* Whenever something may begin it does, at the end of instant t; but nothing else begins where
       the first job's step may not. *)
    X3_begins : forall l r t m, v_steps X = l ++ r ->
      (forall s, In s l -> g_st s <= t) -> (forall s, In s r -> t < g_st s) ->
      0 <= t < v_end X -> first_job l t m -> ~ may_begin (job_kind m) l t;
    X4 : forall l s r, v_steps X = l ++ s :: r -> X4_times l s
  }.

  (* And the bus takes b at most, which is Lemma 1 (`bus_within` in Channel.v). *)
  Record obeys_registers : Prop := {
    obeys_rules :> registers_rules;
    x_bus : forall s, In s (v_steps X) -> kind_of (g_act s) <> KPass -> moved s - asked s <= bus d
  }.

  (* A job is over when its last page has been moved or programmed, its erase has ended, or it was
     found void. *)
  Definition over (m : nat) (t : Z) : bool :=
    existsb (fun s => Nat.eqb (g_job s) m && g_last s && (g_en s <=? t)) (v_steps X).
End Registers.

(* A chip of a cached stripe: r_C is the pages of a request, r_q a page. *)
Record cached (d : device) (P : processor) : Prop := {
  cached_requests : forall r, In r (p_rs P) -> r_q r = 1 /\ (r_w r = 0 \/ r_w r = r_C r);
  cached_row : p_s P = 1 /\ p_P P = 0 /\ p_gr P = 0;
  cached_pass : p_gw P <= t_r d + t_w d /\ p_e P <= t_e d;
  cached_alone : p_server P = false
}.

(* A chip of a cached stripe, from a device and its requests; (22) and (23), without a server. *)
Definition cached_request (w : demanded) : request :=
  Request (w_pages w) (w_T w) (w_D w) (w_J w) 1 (if w_writes w then w_pages w else 0).

Definition cached_stripe (d : device) (rs : list demanded) (e : stated) (N Pages Lam : Z)
  : processor :=
  let cb := t_r d + t_w d in
  Processor (map cached_request rs)
    (Collection (e_Dg e) (e_alpha e) (e_v e * cb + t_e d)
       (if e_v e =? 0 then t_e d else Z.max (t_e d) cb) 0 0)
    1 Pages N Lam 0 0 0 0 cb (t_e d) (e_H e) (e_v e) false 0 0 [].

Lemma cached_stripe_ok : forall d rs e N Pages Lam,
  device_ok d -> (forall w, In w rs -> demanded_ok w) -> stated_ok e -> 1 <= Pages ->
  certificate_ok (cached_stripe d rs e N Pages Lam) ->
  parameters_ok (cached_stripe d rs e N Pages Lam) /\ cached d (cached_stripe d rs e N Pages Lam).
Proof.
  intros d rs e N Pages Lam Hd Hrs He HP [H1 [H2 [H3 H4]]].
  unfold device_ok in Hd. unfold stated_ok in He. split.
  - constructor; try assumption; simpl in *.
    + intros r Hr. apply in_map_iff in Hr. destruct Hr as [w [<- Hw]]. specialize (Hrs w Hw).
      unfold demanded_ok in Hrs. unfold request_ok, cached_request; simpl.
      destruct (w_writes w); lia.
    + unfold collection_ok; simpl.
      assert (0 <= e_v e * (t_r d + t_w d)) by nia. destruct (Z.eqb_spec (e_v e) 0); nia.
    + lia.
    + lia.
    + rewrite Z.min_r by lia. unfold reads_cost; simpl. unfold cdiv. rewrite Z.div_1_r.
      replace (e_v e + 1 - 1) with (e_v e) by lia. lia.
    + destruct (Z.eqb_spec (e_v e) 0); split; try lia; split; intros; lia.
    + discriminate.
    + intros j [].
  - constructor; simpl; try lia; try reflexivity.
    intros r Hr. apply in_map_iff in Hr. destruct Hr as [w [<- Hw]]. simpl.
    destruct (w_writes w); auto.
Qed.

(* The demand of an interval of length L: pages read and written, and J. *)
Definition reading (r : request) : bool := r_w r =? 0.
Definition pages_read (rs : list request) (L : Z) : Z :=
  suml (fun r => if reading r then due_jobs r L * r_C r else 0) rs.
Definition pages_written (rs : list request) (L : Z) : Z :=
  suml (fun r => if reading r then 0 else due_jobs r L * r_C r) rs.
Definition jobs_J (rs : list request) (g : collection) (L : Z) : Z :=
  suml (fun r => due_jobs r L) rs + due_passes rs g L.

Definition reads_any (rs : list request) : bool := existsb reading rs.

(* (62) *)
Definition waits_K (rs : list request) (g : collection) (L : Z) : Z :=
  let J := jobs_J rs g L in
  if writes rs then
    Z.min J (pages_written rs L) + (if reads_any rs then Z.min J (pages_read rs L + 1) else 0)
  else 0.

(* (63) *)
Definition begun_before (d : device) (rs : list request) : Z :=
  let b := bus d in
  Z.max (if reads_any rs then Z.max (t_r d) b + (if writes rs then 0 else b) else 0)
    (if writes rs then Z.max (Z.max (t_e d) (t_r d + t_w d)) (Z.max (t_w d) b + t_w d) else 0).

(* (65), c_r where nothing is known of the neighbours. *)
Definition cost_r (d : device) : Z := Z.max (t_r d) (bus d).
Definition cost_w (d : device) : Z := Z.max (t_w d) (bus d).

(* (T2) where nothing is known of the neighbours: W4 = b K. *)
Definition fits_alone (d : device) (rs : list request) (g : collection) (L : Z) : Prop :=
  pages_read rs L * cost_r d + pages_written rs L * cost_w d +
  due_passes rs g L * g_C g + bus d * waits_K rs g L + begun_before d rs <= L.

Definition T2_alone (d : device) (rs : list request) (g : collection) : Prop :=
  forall L, (exists x, In x (deadlines rs g) /\ x <= L) -> fits_alone d rs g L.
