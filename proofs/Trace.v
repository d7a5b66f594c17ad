(* The model: what an EDF processor of Section 1 may do. One trace has both the schedule (which step
   when) and the counters a, b, c, f of Section 2. One theory covers a chip of a static stripe
   (s = 1, no reads by collection: copies are copybacks) and a superblock (rows of s pages).

   Time is Z. At one instant releases come first, then ends of steps, then dispatch. *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Demand Victims Sporadic.
Import ListNotations.
Open Scope Z_scope.

(* A job of a server: arrival, pages read, pages written, deadline. *)
Record served := Served { sv_a : Z; sv_r : Z; sv_w : Z; sv_d : Z }.

Record processor := Processor {
  p_rs : list request;      (* requests *)
  p_g : collection;         (* D_g, alpha, C_g, q_g, U_s, q_s *)
  p_s : Z;                  (* pages of a row: 1 on a chip *)
  p_PP : Z; p_N : Z; p_Lam : Z;
  p_P : Z;                  (* reads of a pass, at most: 0 on a chip, P of a superblock *)
  p_gr : Z;                 (* a pass's read, whatever it reads *)
  p_gr1 : Z; p_gt : Z;      (* and of one page; for each page more *)
  p_gw : Z; p_e : Z;        (* a pass's copyback or row, its erase *)
  p_H : Z; p_v : Z;
  p_server : bool;
  p_sr : Z; p_sw : Z;       (* a server's read, its program or row *)
  p_served : list served
}.

(* (5) and (6), with deadlines and jitter. *)
Definition within_deadline (P : processor) : Z :=
  suml (fun r => cdiv (g_D (p_g P) + r_J r) (r_T r) * r_w r) (p_rs P).
Definition pending_pages (P : processor) : Z :=
  suml (fun r => cdiv (r_D r) (r_T r) * r_w r) (p_rs P).

(* (7), with alpha + v for PP. *)
Definition server_reserve (P : processor) : Z :=
  if p_server P then g_alpha (p_g P) + p_v P + p_s P - 1 else 0.

Definition F_of (P : processor) : Z :=
  not_eligible (p_PP P) (p_H P) (pending_pages P) (p_server P).

(* What n reads of a pass take, of so many pages in all: (27). *)
Definition reads_cost (P : processor) (n pages : Z) : Z :=
  Z.min (n * p_gr P) (n * p_gr1 P + (pages - n) * p_gt P).
Arguments reads_cost : simpl never.

(* What parameters have to satisfy: (C1) to (C4) of Section 8 and the costs of a pass. *)
Record parameters_ok (P : processor) : Prop := {
  ok_requests : forall r, In r (p_rs P) -> request_ok r;
  ok_collection : collection_ok (p_g P);
  ok_sizes : 1 <= p_s P /\ 1 <= p_PP P /\ 0 <= p_P P /\ 0 <= p_v P;
  ok_times : 0 <= p_gr P /\ 0 <= p_gt P <= p_gr1 P /\ 0 <= p_gw P /\ 1 <= p_e P /\ 0 <= p_sr P /\
             0 <= p_sw P;
  ok_C1 : g_alpha (p_g P) + p_v P <= p_PP P;
  ok_C2 : within_deadline P + g_alpha (p_g P) + p_v P - 1 + server_reserve P <= p_H P;
  ok_C3 : F_of P < p_N P;
  ok_C4 : p_Lam P / (p_N P - F_of P) <= p_v P;
  (* (22), (27) *)
  ok_pass : reads_cost P (Z.min (p_v P) (p_P P)) (p_v P) + cdiv (p_v P) (p_s P) * p_gw P + p_e P
            <= g_C (p_g P);
  (* (23), (28) *)
  ok_pass_step : p_e P <= g_q (p_g P) /\ (1 <= p_v P -> p_gw P <= g_q (p_g P)) /\
                 (1 <= p_v P -> 1 <= p_P P -> p_gr P <= g_q (p_g P));
  ok_server : p_server P = true ->
    0 < g_us (p_g P) /\ p_sr P <= g_qs (p_g P) /\ p_sw P <= g_qs (p_g P) /\
    p_e P <= g_qs (p_g P) /\ p_gw P <= g_qs (p_g P) /\
    (1 <= p_P P -> p_gr P <= g_qs (p_g P));
  ok_served : forall j, In j (p_served P) -> 0 <= sv_a j /\ 0 <= sv_r j /\ 0 <= sv_w j
}.

(* Whose job it is: request number i; collection's number k; the server's job number j;
   background. *)
Inductive class := Req (i : nat) | Gc (k : Z) | Srv (j : nat) | Bg.

(* Nominal arrival, release, deadline, class, pages that it writes, steps that it has at most. *)
Record job := Job {
  j_nom : Z; j_rel : Z; j_due : Z; j_class : class; j_pages : Z; j_parts : Z
}.

(* What a step does: a page is read; n pages are programmed at once (one on a chip, a row of a
   superblock); a victim of so many valid pages is chosen (no time); a pass reads n pages at
   once; a pass copies n pages; it erases; a void job is over at once. *)
Inductive action :=
  ARead | AProg (n : Z) | APick (valid : Z) | AGcRead (n : Z) | ACopy (n : Z) | AErase | AVoid.

Record step := Step { s_job : nat; s_st : Z; s_en : Z; s_act : action; s_last : bool }.

Record trace := Trace { x_jobs : list job; x_steps : list step; x_f0 : Z; x_end : Z }.

(* A pass under way: the victim's valid pages; reads, pages read, rows and copied pages so far. *)
Record pass := Pass { ps_v : Z; ps_r : Z; ps_p : Z; ps_w : Z; ps_c : Z }.

(* f, c; K, GC jobs over; the pass under way; the server's pages programmed, its passes over, its
   pass under way. *)
Record state := State {
  z_f : Z; z_c : Z; z_K : Z; z_pass : option pass; z_n : Z; z_S : Z; z_spass : option pass
}.

Definition copied (p : option pass) : Z := match p with None => 0 | Some q => ps_c q end.

Definition drawn (s : step) : Z := match s_act s with AProg n | ACopy n => n | _ => 0 end.

Definition pass_begins (a : action) (p : option pass) : option pass :=
  match a, p with
  | APick val, _ => Some (Pass val 0 0 0 0)
  | AGcRead n, Some q => Some (Pass (ps_v q) (ps_r q + 1) (ps_p q + n) (ps_w q) (ps_c q))
  | ACopy n, Some q => Some (Pass (ps_v q) (ps_r q) (ps_p q) (ps_w q + 1) (ps_c q + n))
  | _, _ => p
  end.

Definition is_void (a : action) : bool := match a with AVoid => true | _ => false end.
Definition is_prog (a : action) : bool := match a with AProg _ => true | _ => false end.
Definition is_read (a : action) : bool := match a with ARead => true | _ => false end.

Section Trace.
  Variable P : processor.
  Variable X : trace.

  Let n := length (x_jobs X).
  Definition jb (m : nat) : job := nth m (x_jobs X) (Job 0 0 0 Bg 0 0).
  Definition rq (i : nat) : request := nth i (p_rs P) (Request 0 1 1 0 0 0).

  Definition is_req (i m : nat) : bool :=
    match j_class (jb m) with Req r => Nat.eqb r i | _ => false end.
  Definition is_request (m : nat) : bool :=
    match j_class (jb m) with Req _ => true | _ => false end.
  Definition is_gc (m : nat) : bool := match j_class (jb m) with Gc _ => true | _ => false end.
  Definition gc_number (m : nat) : Z := match j_class (jb m) with Gc k => k | _ => 0 end.
  Definition is_srv (m : nat) : bool := match j_class (jb m) with Srv _ => true | _ => false end.
  Definition srv_number (m : nat) : nat := match j_class (jb m) with Srv j => j | _ => O end.
  Definition real_time (m : nat) : bool := is_request m || is_gc m.

  (* a(t) *)
  Definition arrived (t : Z) : Z :=
    sumn (fun m => if is_request m && (j_rel (jb m) <=? t) then j_pages (jb m) else 0) n.

  (* f falls, and c grows, when a program begins; f grows by PP when an erase ends. *)
  Definition begin (z : state) (s : step) : state :=
    match j_class (jb (s_job s)) with
    | Req _ =>
        State (z_f z - drawn s) (z_c z + drawn s) (z_K z) (z_pass z) (z_n z) (z_S z) (z_spass z)
    | Gc _ =>
        State (z_f z - drawn s) (z_c z) (z_K z + ind (is_void (s_act s)))
          (pass_begins (s_act s) (z_pass z)) (z_n z) (z_S z) (z_spass z)
    | Srv _ =>
        State (z_f z - drawn s) (z_c z) (z_K z) (z_pass z)
          (z_n z + if is_prog (s_act s) then drawn s else 0)
          (z_S z + ind (is_void (s_act s))) (pass_begins (s_act s) (z_spass z))
    | Bg =>
        State (z_f z - drawn s) (z_c z) (z_K z) (z_pass z) (z_n z) (z_S z) (z_spass z)
    end.

  Definition finish (z : state) (s : step) : state :=
    match s_act s, j_class (jb (s_job s)) with
    | AErase, Gc _ =>
        State (z_f z + p_PP P) (z_c z) (z_K z + 1) None (z_n z) (z_S z) (z_spass z)
    | AErase, Srv _ =>
        State (z_f z + p_PP P) (z_c z) (z_K z) (z_pass z) (z_n z) (z_S z + 1) None
    | _, _ => z
    end.

  Definition start : state := State (x_f0 X) 0 0 None 0 0 None.
  Definition run (l : list step) : state := fold_left (fun z s => finish (begin z s) s) l start.

  (* The state at the end of instant t. *)
  Definition at_time (t : Z) (l : list step) : state :=
    fold_left (fun z s =>
      if s_st s <=? t then (if s_en s <=? t then finish (begin z s) s else begin z s) else z)
      l start.

  Definition free_pages (t : Z) : Z := z_f (at_time t (x_steps X)).
  Definition pending (t : Z) : Z := arrived t - z_c (at_time t (x_steps X)).

  (* Whether a step of l ended job m by t. *)
  Definition finished (l : list step) (m : nat) (t : Z) : bool :=
    existsb (fun s => Nat.eqb (s_job s) m && s_last s && (s_en s <=? t)) l.

  (* Steps of job m in l, those that read a user's page, and pages programmed of it. *)
  Definition parts (l : list step) (m : nat) : Z := suml (fun s => ind (Nat.eqb (s_job s) m)) l.
  Definition reads (l : list step) (m : nat) : Z :=
    suml (fun s => ind (Nat.eqb (s_job s) m && is_read (s_act s))) l.
  Definition programmed (l : list step) (m : nat) : Z :=
    suml (fun s => if Nat.eqb (s_job s) m then drawn s else 0) l.

  (* The server's jobs: its pages before job j, and (30) to (32). *)
  Definition sj (j : nat) : served := nth j (p_served P) (Served 0 0 0 0).
  Definition pages_before (j : nat) : Z := sumn (fun i => sv_w (sj i)) j.
  Definition passes_of (j : nat) : Z :=
    pages_before (S j) / g_alpha (p_g P) - pages_before j / g_alpha (p_g P).
  Definition served_cost (j : nat) : Z :=
    sv_r (sj j) * p_sr P + cdiv (sv_w (sj j)) (p_s P) * p_sw P + passes_of j * g_C (p_g P).
  Definition served_due (j : nat) : Z := sv_d (sj j).
  Definition deadline_before (j : nat) : Z := match j with O => 0 | S i => served_due i end.
  (* A deadline may be later than (32) has it, as where the chips of a stripe take the latest. *)
  Definition eq_32 (j : nat) : Prop :=
    Z.max (sv_a (sj j)) (deadline_before j) + cdiv (1000 * served_cost j) (g_us (p_g P))
    <= served_due j.
  Definition server_ahead (z : state) : Z := z_n z - g_alpha (p_g P) * z_S z.

  (* R4: there is a state of the blocks, with as many free pages as the counter says, in which the
     victim has the fewest valid pages. *)
  Definition R4_victim (f others val : Z) : Prop :=
    exists l, blocks_ok (p_PP P) (p_N P) (p_Lam P) others f l /\ fewest_valid l val.

  Definition under_way (p : option pass) : Z := match p with None => 0 | Some _ => 1 end.

  (* How long a step of a pass may take, and when a pass may begin it. *)
  Definition pass_step_time (a : action) : Z :=
    match a with
    | AGcRead k => reads_cost P 1 k
    | ACopy _ => p_gw P
    | AErase => p_e P
    | _ => 0
    end.

  Definition R4_pass_step (p : option pass) (a : action) : Prop :=
    match p, a with
    | Some q, AGcRead k => 1 <= k /\ ps_p q + k <= ps_v q /\ ps_r q < Z.min (ps_v q) (p_P P)
    | Some q, ACopy k =>
        1 <= k <= p_s P /\ ps_c q + k <= ps_v q /\ ps_w q < cdiv (ps_v q) (p_s P)
    | Some _, AErase => True
    | _, _ => False
    end.

  (* The rules that a step has to follow, z being the state when it is dispatched and l the steps
     before. *)
  Definition step_rule (l : list step) (s : step) : Prop :=
    let z := run l in
    let t := s_st s in
    let b := arrived t - z_c z in
    let m := s_job s in
    let long := s_en s - s_st s in
    (m < n)%nat /\ 0 <= t /\ t <= s_en s /\
    (forall r, In r l -> s_en r <= t) /\
    j_rel (jb m) <= t /\ finished l m t = false /\
    (* S2, D1: EDF among pending jobs, ties in any way. *)
    (forall k, (k < n)%nat -> j_rel (jb k) <= t -> finished l k t = false ->
       j_due (jb m) <= j_due (jb k)) /\
    match j_class (jb m) with
    | Req i =>
        1 <= long <= r_q (rq i) /\
        (s_act s = ARead \/ exists k, s_act s = AProg k /\ 1 <= k <= p_s P) /\
        parts l m + 1 <= j_parts (jb m) /\
        (parts l m + 1 = j_parts (jb m) -> s_last s = true) /\
        programmed l m + drawn s <= j_pages (jb m) /\
        (s_last s = true -> programmed l m + drawn s = j_pages (jb m))
    | Gc k =>
        z_K z = k - 1 (* R2 *) /\
        match s_act s with
        | AVoid => (* R3 *)
            z_pass z = None /\ z_f z - b >= p_H P /\ long = 0 /\ s_last s = true
        | APick val => (* R3, R4 *)
            z_pass z = None /\ z_f z - b < p_H P /\ long = 0 /\ s_last s = false /\
            R4_victim (z_f z) (under_way (z_spass z)) val
        | a =>
            R4_pass_step (z_pass z) a /\ 1 <= long <= pass_step_time a /\
            s_last s = match a with AErase => true | _ => false end
        end
    | Srv j =>
        match s_act s with
        | ARead => reads l m + 1 <= sv_r (sj j) /\ 1 <= long <= p_sr P
        | AProg k => (* V1, V3; a row is as full as it can be *)
            pages_before j <= z_n z /\ z_n z + k <= pages_before (S j) /\
            1 <= k /\ k = Z.min (p_s P) (pages_before (S j) - z_n z) /\
            z_spass z = None /\ server_ahead z < g_alpha (p_g P) /\ 1 <= long <= p_sw P
        | a => (* V2 *)
            pages_before j < g_alpha (p_g P) * (z_S z + 1) <= pages_before (S j) /\
            match a with
            | AVoid =>
                z_spass z = None /\ g_alpha (p_g P) <= server_ahead z /\
                z_f z - b >= p_H P /\ long = 0
            | APick val =>
                z_spass z = None /\ g_alpha (p_g P) <= server_ahead z /\
                z_f z - b < p_H P /\ long = 0 /\
                R4_victim (z_f z) (under_way (z_pass z)) val
            | _ => R4_pass_step (z_spass z) a /\ 1 <= long <= pass_step_time a
            end
        end
    | Bg =>
        1 <= long <= g_qs (p_g P) /\
        (s_act s = ARead \/
         exists k, s_act s = AProg k /\ 1 <= k /\ z_f z - k - b >= p_H P)
    end.

  (* All rules but one: of requests, of collection and the counters, and of the order of steps;
     `rule` is what a step has to follow. They are those of a cached stripe, too (Registers.v). *)
  Record counted_by (rule : list step -> step -> Prop) : Prop := {
    released : forall m, (m < n)%nat -> 0 <= j_rel (jb m);
    (* Requests, with deadlines and jitter: Section 2.9. *)
    sporadic : forall m i, (m < n)%nat -> j_class (jb m) = Req i ->
      (i < length (p_rs P))%nat /\
      j_nom (jb m) <= j_rel (jb m) <= j_nom (jb m) + r_J (rq i) /\
      j_due (jb m) = j_nom (jb m) + r_D (rq i) /\
      0 <= j_pages (jb m) <= r_w (rq i) /\
      1 <= j_parts (jb m) /\ j_parts (jb m) * r_q (rq i) <= r_C (rq i);
    period_apart : forall i, apart n (is_req i) (fun m => j_nom (jb m)) (r_T (rq i));
    (* R1 *)
    R1_released : forall m k, (m < n)%nat -> j_class (jb m) = Gc k ->
      1 <= k /\
      arrived (j_rel (jb m) - 1) < g_alpha (p_g P) * k <= arrived (j_rel (jb m)) /\
      j_due (jb m) = j_rel (jb m) + g_D (p_g P);
    R1_all : forall k, 1 <= k -> g_alpha (p_g P) * k <= arrived (x_end X) ->
      exists m, (m < n)%nat /\ j_class (jb m) = Gc k;
    R1_once : forall m r k, (m < n)%nat -> (r < n)%nat ->
      j_class (jb m) = Gc k -> j_class (jb r) = Gc k -> m = r;
    (* R5 *)
    R5_reserve : p_H P <= x_f0 X;
    (* The server, and background jobs, which run where nothing else is pending. *)
    server_jobs : forall m j, (m < n)%nat -> j_class (jb m) = Srv j ->
      p_server P = true /\ (j < length (p_served P))%nat /\
      j_rel (jb m) = sv_a (sj j) /\ j_due (jb m) = served_due j;
    server_deadlines : forall j, (j < length (p_served P))%nat -> eq_32 j;
    server_once : forall m r j, (m < n)%nat -> (r < n)%nat ->
      j_class (jb m) = Srv j -> j_class (jb r) = Srv j -> m = r;
    background : forall m, (m < n)%nat -> j_class (jb m) = Bg -> x_end X < j_due (jb m);
    steps_obey : forall l s r, x_steps X = l ++ s :: r -> rule l s
  }.
  Definition counted : Prop := counted_by step_rule.

  (* A trace that obeys all rules up to its end. *)
  Record obeys_by (rule : list step -> step -> Prop) : Prop := {
    obeys_counted :> counted_by rule;
    (* S2, D1: never idle while something is pending. *)
    not_idle : forall t m, 0 <= t < x_end X -> (m < n)%nat -> j_rel (jb m) <= t ->
      finished (x_steps X) m t = false ->
      exists s, In s (x_steps X) /\ s_st s <= t < s_en s
  }.
  Definition obeys : Prop := obeys_by step_rule.

  (* What the theorems promise. *)
  Definition missed (m : nat) : Prop :=
    real_time m = true /\ finished (x_steps X) m (j_due (jb m)) = false.
  Definition picks_up_to (t : Z) : Prop :=
    forall l s r val, x_steps X = l ++ s :: r -> s_act s = APick val -> s_st s <= t ->
    val <= p_v P.
  Definition in_time_up_to (t : Z) : Prop :=
    forall m, (m < n)%nat -> real_time m = true -> j_due (jb m) <= t ->
    finished (x_steps X) m (j_due (jb m)) = true.
  (* The same of GC jobs only, as Lemma 2 asks, and of requests only, as Lemma 3 does. *)
  Definition gc_in_time_up_to (t : Z) : Prop :=
    forall m, (m < n)%nat -> is_gc m = true -> j_due (jb m) <= t ->
    finished (x_steps X) m (j_due (jb m)) = true.
  Definition requests_in_time_up_to (t : Z) : Prop :=
    forall m, (m < n)%nat -> is_request m = true -> j_due (jb m) <= t ->
    finished (x_steps X) m (j_due (jb m)) = true.

  Lemma gc_of_in_time : forall t, in_time_up_to t -> gc_in_time_up_to t.
  Proof.
    intros t H m Hm Hg. apply H; [assumption|]. unfold real_time. rewrite Hg. apply orb_true_r.
  Qed.
  Lemma requests_of_in_time : forall t, in_time_up_to t -> requests_in_time_up_to t.
  Proof. intros t H m Hm Hr. apply H; [assumption|]. unfold real_time. rewrite Hr. reflexivity. Qed.
End Trace.
Arguments released P X {rule} _.
Arguments sporadic P X {rule} _.
Arguments period_apart P X {rule} _.
Arguments R1_released P X {rule} _.
Arguments R1_all P X {rule} _.
Arguments R1_once P X {rule} _.
Arguments R5_reserve P X {rule} _.
Arguments server_jobs P X {rule} _.
Arguments server_deadlines P X {rule} _.
Arguments server_once P X {rule} _.
Arguments background P X {rule} _.
Arguments not_idle P X {rule} _.
Arguments steps_obey P X {rule} _.
