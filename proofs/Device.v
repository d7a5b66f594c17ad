(* Section 1 and Lemma 1 in one trace: a processor, its steps, and the transfers that they make on
   the buses. Of a step no time is supposed here but what its operation takes by itself: t_r, t_d,
   t_w, t_r + t_w, t_e. What it waits for the bus follows from S3 (D2), and with it c_r and c_w. *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Demand Victims Sporadic Bus Trace Reserve Costs Server Edf Closing.
Import ListNotations.
Open Scope Z_scope.

(* Choosing a victim, and finding a job void, take no time. *)
Definition takes_time (a : action) : bool :=
  match a with APick _ | AVoid => false | _ => true end.

Section Untimed.
  Variable P : processor.
  Variable X : trace.

  (* All that `step_rule` asks of a step but for how long it takes: there is an end with which it
     would follow the rule. *)
  Definition untimed_rule (l : list step) (s : step) : Prop :=
    (if takes_time (s_act s) then 1 <= s_en s - s_st s else s_en s = s_st s) /\
    exists e, step_rule P X l (Step (s_job s) (s_st s) e (s_act s) (s_last s)).
  Definition obeys_untimed : Prop := obeys_by P X untimed_rule.

  Lemma untimed_of_obeys : obeys P X -> obeys_untimed.
  Proof.
    intros H. destruct H as [[H1 H2 H3 H4 H5 H6 H7 H8 H9 H10 H11 H13] H12].
    constructor; [constructor|]; try assumption. intros l s r Hs. specialize (H13 l s r Hs). split.
    - unfold step_rule in H13. destruct H13 as [_ [_ [_ [_ [_ [_ [_ Hr]]]]]]].
      destruct (j_class (jb X (s_job s))).
      + destruct Hr as [Hr [[Ha|[k [Ha _]]] _]]; rewrite Ha; simpl; lia.
      + destruct Hr as [_ Hr]. destruct (s_act s); simpl; lia.
      + destruct (s_act s); simpl; lia.
      + destruct Hr as [Hr [Ha|[k [Ha _]]]]; rewrite Ha; simpl; lia.
    - exists (s_en s). destruct s. assumption.
  Qed.

  (* What a step may take: its longest time by the rules of a trace. *)
  Definition charged (s : step) : Z :=
    match j_class (jb X (s_job s)) with
    | Req i => r_q (rq P i)
    | Gc _ => pass_step_time P (s_act s)
    | Srv _ => match s_act s with
               | ARead => p_sr P | AProg _ => p_sw P | a => pass_step_time P a end
    | Bg => g_qs (p_g P)
    end.

  Lemma timed : obeys_untimed ->
    (forall l s r, x_steps X = l ++ s :: r -> untimed_rule l s -> takes_time (s_act s) = true ->
       s_en s - s_st s <= charged s) ->
    obeys P X.
  Proof.
    intros H Ht. destruct H as [[H1 H2 H3 H4 H5 H6 H7 H8 H9 H10 H11 H13] H12].
    constructor; [constructor|]; try assumption. intros l s r Hs.
    pose proof (H13 l s r Hs) as Hu. specialize (Ht l s r Hs Hu).
    destruct Hu as [Hl [e Hr]]. unfold step_rule in *. unfold charged in Ht.
    cbn [s_job s_st s_en s_act s_last] in Hr.
    assert (Hen : s_st s <= s_en s) by (destruct (takes_time (s_act s)); lia).
    destruct Hr as [G1 [G2 [G3 [G4 [G5 [G6 [G7 G8]]]]]]].
    split; [assumption|]. split; [assumption|]. split; [assumption|]. split; [assumption|].
    split; [assumption|]. split; [assumption|]. split; [assumption|]. clear G4 G7.
    destruct (j_class (jb X (s_job s))) as [i|k|j|] eqn:Ec.
    - destruct G8 as [G8 [G9 G10]]. split; [|split; [exact G9|exact G10]].
      assert (takes_time (s_act s) = true)
        by (destruct G9 as [->|[k [-> _]]]; reflexivity).
      rewrite H in *. specialize (Ht eq_refl). lia.
    - destruct G8 as [G8 G9]. split; [exact G8|].
      destruct (s_act s); cbn [takes_time] in *; try (specialize (Ht eq_refl));
        unfold drawn in G9; cbn [s_act] in G9; intuition lia.
    - destruct (s_act s); cbn [takes_time] in *; try (specialize (Ht eq_refl)); intuition lia.
    - destruct G8 as [G8 G9]. split; [|exact G9].
      assert (takes_time (s_act s) = true)
        by (destruct G9 as [->|[k [-> _]]]; reflexivity).
      rewrite H in *. specialize (Ht eq_refl). lia.
  Qed.

  Lemma untimed_order : obeys_untimed -> forall l s r, x_steps X = l ++ s :: r ->
    0 <= s_st s <= s_en s /\ (forall x, In x l -> s_en x <= s_st s).
  Proof.
    intros H l s r Hs. destruct (steps_obey P X H l s r Hs) as [Hl [e Hr]].
    unfold step_rule in Hr. cbn [s_st] in Hr. destruct Hr as [_ [H1 [_ [H2 _]]]].
    split; [|assumption]. destruct (takes_time (s_act s)); lia.
  Qed.

  (* Steps do not overlap, so two that take time and share an instant are one. *)
  Lemma disjoint_steps : obeys_untimed -> forall s u, In s (x_steps X) -> In u (x_steps X) ->
    s = u \/ s_en s <= s_st u \/ s_en u <= s_st s.
  Proof.
    intros H s u Hs Hu. apply in_split in Hs. destruct Hs as [l [r Hs]].
    rewrite Hs in Hu. apply in_app_or in Hu. destruct Hu as [Hu|[Hu|Hu]]; [|left; assumption|].
    - right. right. apply (untimed_order H l s r Hs). assumption.
    - right. left. apply in_split in Hu. destruct Hu as [l2 [r2 ->]].
      apply (untimed_order H (l ++ s :: l2) u r2).
      + rewrite Hs, <- app_assoc. reflexivity.
      + apply in_or_app. right. left. reflexivity.
  Qed.

  Lemma one_start : obeys_untimed -> forall s u, In s (x_steps X) -> In u (x_steps X) ->
    takes_time (s_act s) = true -> takes_time (s_act u) = true -> s_st s = s_st u -> s = u.
  Proof.
    intros H s u Hs Hu Ts Tu He.
    assert (Hlong : forall y, In y (x_steps X) -> takes_time (s_act y) = true ->
      1 <= s_en y - s_st y).
    { intros y Hy Ty. apply in_split in Hy. destruct Hy as [l [r Hy]].
      destruct (steps_obey P X H l y r Hy) as [Hl _]. rewrite Ty in Hl. assumption. }
    pose proof (Hlong s Hs Ts). pose proof (Hlong u Hu Tu).
    destruct (disjoint_steps H s u Hs Hu) as [|[|]]; [assumption|lia|lia].
  Qed.
End Untimed.

(* A transfer on a channel: whose place on it, when the operation that makes it began, and when it
   was asked for, granted, and over. A channel: how many chips, and its transfers in the order of
   their grants. A chip of the device: its channel's number, and its place there. *)
Record transfer := Transfer {
  tr_place : nat; tr_start : Z; tr_asked : Z; tr_granted : Z; tr_over : Z
}.
Record channel := Channel { ch_chips : Z; ch_transfers : list transfer }.
Definition chip := (nat * nat)%type.

Definition number_of (h : channel) : nat := length (ch_transfers h).
Definition tr (h : channel) (k : nat) : transfer :=
  nth k (ch_transfers h) (Transfer 0 0 0 0 0).
Definition place_of (h : channel) (k : nat) : Z := Z.of_nat (tr_place (tr h k)).
Definition asked_of (h : channel) (k : nat) : Z := tr_asked (tr h k).
Definition granted_of (h : channel) (k : nat) : Z := tr_granted (tr h k).
Definition over_of (h : channel) (k : nat) : Z := tr_over (tr h k).

(* S3, D2, for one channel. *)
Definition S3_bus (t_d : Z) (h : channel) : Prop :=
  bus_obeys (number_of h) (place_of h) (asked_of h) (granted_of h) (over_of h) (ch_chips h) t_d /\
  (S3_first_come (number_of h) (asked_of h) \/
   S3_round_robin (number_of h) (place_of h) (asked_of h) (over_of h)).

(* Whether the chip at place c makes any transfer, and how many chips do: those of clusters with
   tasks, a server, or background jobs, at most. *)
Definition uses (h : channel) (c : nat) : bool :=
  existsb (fun t => Nat.eqb (tr_place t) c) (ch_transfers h).
Definition used (h : channel) : Z := countn (uses h) (Z.to_nat (ch_chips h)).

Lemma uses_of : forall h k, (k < number_of h)%nat -> uses h (tr_place (tr h k)) = true.
Proof.
  intros h k Hk. unfold uses. apply existsb_exists. exists (tr h k).
  split; [apply nth_In; assumption|apply Nat.eqb_refl].
Qed.

Lemma used_le : forall h, 0 <= ch_chips h -> used h <= ch_chips h.
Proof.
  intros h Hh. unfold used. apply (countn_pigeon _ _ Z.of_nat); [assumption|intros; lia|].
  intros; lia.
Qed.

Definition in_places (l : list chip) (h c : nat) : bool :=
  existsb (fun p => Nat.eqb (fst p) h && Nat.eqb (snd p) c) l.

Lemma in_places_spec : forall l h c, in_places l h c = true <-> In (h, c) l.
Proof.
  intros l h c. unfold in_places. rewrite existsb_exists. split.
  - intros [[a b] [H1 H2]]. simpl in H2. apply andb_true_iff in H2. destruct H2 as [H2 H3].
    apply Nat.eqb_eq in H2. apply Nat.eqb_eq in H3. subst. assumption.
  - intros H. exists (h, c). split; [assumption|]. simpl. rewrite !Nat.eqb_refl. reflexivity.
Qed.

(* Which steps use the bus: on a chip of a stripe copies are copybacks, and do not. *)
Definition uses_bus (super : bool) (a : action) : bool :=
  match a with ARead | AProg _ => true | AGcRead _ | ACopy _ => super | _ => false end.

Section Join.
  Variable d : device.

  (* A read asks for the bus once its page is in the register, and its transfer ends it; a program
     asks when it begins, and goes on for t_w at most after its transfer. In a superblock a step may
     have such an operation on each of its chips; it ends when all of these are done. *)
  Definition part_of (s : step) (t : transfer) : Prop :=
    match s_act s with
    | ARead | AGcRead _ => s_st s <= tr_asked t <= s_st s + t_r d /\ tr_over t <= s_en s
    | AProg _ | ACopy _ => tr_asked t = s_st s /\ tr_over t <= s_en s
    | _ => False
    end.
  Definition ends_with (s : step) (t : transfer) : Prop :=
    match s_act s with
    | ARead | AGcRead _ => s_en s = tr_over t
    | AProg _ | ACopy _ => s_en s <= tr_over t + t_w d
    | _ => False
    end.

  (* What a step without the bus takes. *)
  Definition by_itself (a : action) : Z :=
    match a with ACopy _ => t_r d + t_w d | AErase => t_e d | _ => 0 end.

  Variable super : bool.          (* a superblock; else a chip of a stripe *)
  Variable chips : list chip.     (* the chips of the processor *)
  Variable channels : list channel.
  Variable P : processor.
  Variable X : trace.

  Definition ch (h : nat) : channel := nth h channels (Channel 0 []).

  (* Transfer number k of channel h belongs to chip (h, c). *)
  Definition at_chip (h c k : nat) : Prop :=
    In (h, c) chips /\ (k < number_of (ch h))%nat /\ tr_place (tr (ch h) k) = c.

  (* Whether the chip at place c of channel h makes a transfer in a step, and how many of the
     processor's chips there do: as many of its pages are read or programmed there. *)
  Definition in_step (s : step) (h c : nat) : bool :=
    existsb (fun t => Nat.eqb (tr_place t) c && (tr_start t =? s_st s)) (ch_transfers (ch h)).
  Definition chips_in_step (s : step) (h : nat) : Z :=
    countn (fun c => in_places chips h c && in_step s h c) (Z.to_nat (ch_chips (ch h))).

  (* The processor and its channels in one trace. *)
  Record joined : Prop := {
    (* S4: a step that uses the bus makes a transfer, and one of its transfers is the last. *)
    S4_asks : forall s, In s (x_steps X) -> uses_bus super (s_act s) = true ->
      exists h c k, at_chip h c k /\ tr_start (tr (ch h) k) = s_st s /\
        part_of s (tr (ch h) k) /\ ends_with s (tr (ch h) k);
    (* S4: a chip makes no transfer but for its steps, and one for each at most. *)
    S4_none_else : forall h c k, at_chip h c k ->
      exists s, In s (x_steps X) /\ uses_bus super (s_act s) = true /\
        tr_start (tr (ch h) k) = s_st s /\ part_of s (tr (ch h) k);
    S4_one : forall h c k l, at_chip h c k -> at_chip h c l ->
      tr_start (tr (ch h) k) = tr_start (tr (ch h) l) -> k = l;
    (* D: a read of a superblock is of one page, on one of its chips. *)
    one_page : forall h c k i b l s, at_chip h c k -> at_chip i b l ->
      In s (x_steps X) -> s_act s = ARead ->
      tr_start (tr (ch h) k) = s_st s -> tr_start (tr (ch i) l) = s_st s ->
      h = i /\ c = b /\ k = l;
    (* D: so many pages are read at once by a pass, each on another chip. *)
    pages_read : forall s k h, In s (x_steps X) -> s_act s = AGcRead k -> chips_in_step s h <= k;
    (* Section 1: copybacks and erases. *)
    no_bus : forall s, In s (x_steps X) -> takes_time (s_act s) = true ->
      uses_bus super (s_act s) = false -> s_en s - s_st s <= by_itself (s_act s);
    (* S1: reads read, writes program. *)
    right_steps : forall s i, In s (x_steps X) -> j_class (jb X (s_job s)) = Req i ->
      if r_w (rq P i) =? 0 then s_act s = ARead else is_prog (s_act s) = true
  }.

  Hypothesis times_known : device_ok d.
  Hypothesis join : joined.
  Hypothesis S3 : forall h, In h channels -> S3_bus (t_d d) h.
  (* m_c is the number of chips of the fullest channel that the processor has chips on; those that
     make no transfer need not be counted. *)
  Hypothesis fullest : forall h c, In (h, c) chips -> used (ch h) <= m_c d.

  Lemma channel_of : forall h c k, at_chip h c k -> S3_bus (t_d d) (ch h).
  Proof.
    intros h c k [_ [Hk _]]. apply S3. unfold ch in *.
    destruct (nth_in_or_default h channels (Channel 0 [])) as [H|H]; [assumption|].
    rewrite H in Hk. unfold number_of in Hk. simpl in Hk. lia.
  Qed.

  (* Lemma 1 for a step: (3) and (4). *)
  Lemma step_on_bus : forall s, In s (x_steps X) -> uses_bus super (s_act s) = true ->
    s_en s - s_st s
    <= match s_act s with ARead | AGcRead _ => c_r d | _ => c_w d end.
  Proof.
    intros s Hs Hu. destruct (S4_asks join s Hs Hu) as [h [c [k [Hk [_ [Hp He]]]]]].
    pose proof (channel_of h c k Hk) as [Hbus Hturn]. destruct Hk as [Hc [Hk Hkc]].
    pose proof (fullest h c Hc) as Hfull.
    assert (Htd : 0 <= t_d d) by apply times_known.
    pose proof (times _ _ _ _ _ _ _ Hbus k Hk) as H2.
    assert (H1 : granted_of (ch h) k - asked_of (ch h) k <= t_d d * (m_c d - 1)).
    { apply (lemma_1_busy _ _ _ _ _ _ _ Hbus Htd Hturn k Hk
        (fun b => uses (ch h) (Z.to_nat b) && negb (Z.to_nat b =? c)%nat)).
      - pose proof (Bus.chips _ _ _ _ _ _ _ Hbus k Hk) as Hck. unfold place_of in Hck.
        apply Z.le_trans with (used (ch h) - 1); [|lia]. unfold used, countn.
        rewrite (sumn_ext _ (fun m => ind (uses (ch h) (Z.to_nat (Z.of_nat m))
            && negb (Z.to_nat (Z.of_nat m) =? c)%nat))
          (fun m => ind (uses (ch h) m) + (if Nat.eqb m c then -1 else 0))).
        + rewrite sumn_add.
          rewrite (sumn_single _ (fun m => if Nat.eqb m c then -1 else 0) c); [|lia|].
          * rewrite Nat.eqb_refl. lia.
          * intros m _ Hne. destruct (Nat.eqb_spec m c); [contradiction|reflexivity].
        + intros m _. rewrite Nat2Z.id. destruct (Nat.eqb_spec m c) as [->|]; simpl.
          * rewrite <- Hkc, (uses_of (ch h) k Hk). reflexivity.
          * rewrite andb_true_r. lia.
      - intros m Hm Hq. cbv beta in Hq. unfold place_of in Hq. rewrite Nat2Z.id in Hq.
        rewrite (uses_of (ch h) m Hm) in Hq. simpl in Hq. apply negb_false_iff in Hq.
        apply Nat.eqb_eq in Hq.
        destruct (Nat.lt_trichotomy m k) as [Hlt|[->|Hlt]].
        + left. apply (one_outstanding _ _ _ _ _ _ _ Hbus m k Hlt Hk). unfold place_of. congruence.
        + right. lia.
        + right. pose proof (one_at_a_time _ _ _ _ _ _ _ Hbus k m Hlt Hm). lia. }
    unfold asked_of, granted_of, over_of in H1, H2. unfold part_of in Hp. unfold ends_with in He.
    unfold c_r, c_w. destruct (s_act s); try discriminate; lia.
  Qed.

  (* (29): what a read of a superblock waits for: chips of others on its channel. *)
  Definition others_on (h : nat) : Z :=
    countn (fun c => negb (in_places chips h c) && uses (ch h) c) (Z.to_nat (ch_chips (ch h))).

  Lemma read_by_others : obeys_untimed P X -> forall s, In s (x_steps X) -> s_act s = ARead ->
    exists h c, In (h, c) chips /\ s_en s - s_st s <= t_r d + t_d d * (1 + others_on h).
  Proof.
    intros HX s Hs Ha.
    destruct (S4_asks join s Hs ltac:(rewrite Ha; reflexivity)) as [h [c [k [Hk [Hst [Hp He]]]]]].
    pose proof (channel_of h c k Hk) as [Hbus Hturn]. exists h, c. split; [apply Hk|].
    pose proof Hk as [Hc [Hkn _]].
    assert (Htd : 0 <= t_d d) by apply times_known.
    pose proof (times _ _ _ _ _ _ _ Hbus k Hkn) as H2.
    unfold part_of in Hp. unfold ends_with in He. rewrite Ha in Hp, He.
    enough (Hw : granted_of (ch h) k - asked_of (ch h) k <= t_d d * others_on h).
    { unfold asked_of, granted_of, over_of in *. lia. }
    apply (lemma_1_busy _ _ _ _ _ _ _ Hbus Htd Hturn k Hkn
      (fun c => negb (in_places chips h (Z.to_nat c)) && uses (ch h) (Z.to_nat c))
      (others_on h)).
    - apply sumn_le. intros m Hm. rewrite Nat2Z.id. lia.
    - intros m Hm Hq. cbv beta in Hq. unfold place_of in Hq. rewrite Nat2Z.id in Hq.
      rewrite (uses_of (ch h) m Hm), andb_true_r in Hq. apply negb_false_iff in Hq.
      apply in_places_spec in Hq.
      destruct (Nat.eq_dec m k) as [->|Hne]; [right; unfold granted_of; lia|].
      assert (Hmc : at_chip h (tr_place (tr (ch h) m)) m) by (split; [assumption|auto]).
      destruct (S4_none_else join _ _ _ Hmc) as [u [Hu [Hub [Hust Hup]]]].
      assert (Hnu : u <> s).
      { intros ->. apply Hne.
        destruct (one_page join _ _ _ _ _ _ s Hmc Hk Hs Ha Hust Hst) as [_ [_ E]]. assumption. }
      pose proof (times _ _ _ _ _ _ _ Hbus m Hm) as H3.
      unfold asked_of, granted_of, over_of in *.
      assert (Hpu : s_st u <= tr_asked (tr (ch h) m) /\ tr_over (tr (ch h) m) <= s_en u).
      { unfold part_of in Hup. destruct (s_act u); lia. }
      destruct (disjoint_steps P X HX u s Hu Hs) as [|[H|H]]; [congruence|left; lia|right; lia].
  Qed.

  (* GC reads (27): of k pages, one waits for chips of others on its channel, and for k - 1 that are
     read beside it. *)
  Lemma gc_read_by_others : obeys_untimed P X -> forall s k, In s (x_steps X) ->
    s_act s = AGcRead k -> uses_bus super (s_act s) = true ->
    exists h c, In (h, c) chips /\ s_en s - s_st s <= t_r d + t_d d * (k + others_on h).
  Proof.
    intros HX s n Hs Ha Hu.
    destruct (S4_asks join s Hs Hu) as [h [c [k [Hk [Hst [Hp He]]]]]].
    pose proof (channel_of h c k Hk) as [Hbus Hturn]. exists h, c. split; [apply Hk|].
    pose proof Hk as [Hc [Hkn Hkc]].
    assert (Htd : 0 <= t_d d) by apply times_known.
    pose proof (times _ _ _ _ _ _ _ Hbus k Hkn) as H2.
    pose proof (pages_read join s n h Hs Ha) as Hn.
    assert (Hstep : forall m, (m < number_of (ch h))%nat -> tr_start (tr (ch h) m) = s_st s ->
      in_step s h (tr_place (tr (ch h) m)) = true).
    { intros m Hm E. apply existsb_exists. exists (tr (ch h) m). split; [apply nth_In; assumption|].
      rewrite Nat.eqb_refl, E, Z.eqb_refl. reflexivity. }
    assert (Hin : in_places chips h c = true) by (apply in_places_spec; assumption).
    unfold part_of in Hp. unfold ends_with in He. rewrite Ha in Hp, He.
    enough (Hw : granted_of (ch h) k - asked_of (ch h) k <= t_d d * (n - 1 + others_on h)).
    { unfold asked_of, granted_of, over_of in *. lia. }
    set (sibling := fun b => in_places chips h b && in_step s h b).
    set (other := fun b => negb (in_places chips h b) && uses (ch h) b).
    apply (lemma_1_busy _ _ _ _ _ _ _ Hbus Htd Hturn k Hkn
      (fun b => other (Z.to_nat b) || (sibling (Z.to_nat b) && negb (Z.to_nat b =? c)%nat))).
    - pose proof (Bus.chips _ _ _ _ _ _ _ Hbus k Hkn) as Hck. unfold place_of in Hck.
      apply Z.le_trans with (chips_in_step s h - 1 + others_on h); [|lia].
      apply Z.le_trans with (sumn (fun m => (ind (sibling m) + (if Nat.eqb m c then -1 else 0))
        + ind (other m)) (Z.to_nat (ch_chips (ch h)))).
      + apply sumn_le. intros m _. rewrite Nat2Z.id.
        destruct (Nat.eqb_spec m c) as [->|].
        * unfold sibling, other. rewrite Hin, <- Hkc, (Hstep k Hkn Hst). reflexivity.
        * rewrite andb_true_r. destruct (other m); destruct (sibling m); simpl; lia.
      + rewrite !sumn_add.
        rewrite (sumn_single _ (fun m => if Nat.eqb m c then -1 else 0) c); [|lia|].
        * rewrite Nat.eqb_refl. apply Z.le_refl.
        * intros m _ Hne. destruct (Nat.eqb_spec m c); [contradiction|reflexivity].
    - intros m Hm Hq. cbv beta in Hq. unfold place_of in Hq. rewrite Nat2Z.id in Hq.
      apply orb_false_iff in Hq. destruct Hq as [Hq1 Hq2]. unfold other, sibling in Hq1, Hq2.
      rewrite (uses_of (ch h) m Hm), andb_true_r in Hq1. apply negb_false_iff in Hq1.
      rewrite Hq1 in Hq2. cbn [andb] in Hq2.
      destruct (Nat.eq_dec (tr_place (tr (ch h) m)) c) as [Emc|Hne].
      + destruct (Nat.lt_trichotomy m k) as [Hlt|[->|Hlt]].
        * left. apply (one_outstanding _ _ _ _ _ _ _ Hbus m k Hlt Hkn). unfold place_of. congruence.
        * right. unfold granted_of. lia.
        * right. pose proof (one_at_a_time _ _ _ _ _ _ _ Hbus k m Hlt Hm). lia.
      + apply Nat.eqb_neq in Hne. rewrite Hne, andb_true_r in Hq2.
        apply in_places_spec in Hq1.
        assert (Hmc : at_chip h (tr_place (tr (ch h) m)) m) by (split; [assumption|auto]).
        destruct (S4_none_else join _ _ _ Hmc) as [u [Hus [Hub [Hust Hup]]]].
        assert (Hnu : u <> s) by (intros ->; rewrite (Hstep m Hm Hust) in Hq2; discriminate).
        pose proof (times _ _ _ _ _ _ _ Hbus m Hm) as H3.
        unfold asked_of, granted_of, over_of in *.
        assert (Hpu : s_st u <= tr_asked (tr (ch h) m) /\ tr_over (tr (ch h) m) <= s_en u).
        { unfold part_of in Hup. destruct (s_act u); lia. }
        destruct (disjoint_steps P X HX u s Hus Hs) as [|[H|H]]; [congruence|left; lia|right; lia].
  Qed.
End Join.

(* Which step is whose, by the rules alone. *)
Section Steps.
  Variable P : processor.
  Variable X : trace.
  Hypothesis rules : obeys_untimed P X.

  Lemma step_of_class : forall l s r, x_steps X = l ++ s :: r ->
    (s_job s < length (x_jobs X))%nat /\
    match j_class (jb X (s_job s)) with
    | Req i => (i < length (p_rs P))%nat /\ (s_act s = ARead \/ exists k, s_act s = AProg k)
    | Gc _ => s_act s <> ARead /\ forall k, s_act s <> AProg k
    | Srv _ => p_server P = true
    | Bg => 1 <= g_qs (p_g P) /\ (s_act s = ARead \/ exists k, s_act s = AProg k)
    end.
  Proof.
    intros l s r Hs. destruct (steps_obey P X rules l s r Hs) as [Hl [e Hr]].
    unfold step_rule in Hr. cbn [s_job s_st s_en s_act s_last] in Hr.
    destruct Hr as [Hm [_ [_ [_ [_ [_ [_ Hr]]]]]]]. split; [assumption|].
    destruct (j_class (jb X (s_job s))) as [i|k|j|] eqn:Ec.
    - split; [apply (sporadic P X rules _ i Hm Ec)|].
      destruct Hr as [_ [[H|[k [H _]]] _]]; [left; assumption|right; exists k; assumption].
    - destruct Hr as [_ Hr]. split; [intros E|intros q E]; rewrite E in Hr;
        destruct Hr as [Hr _]; destruct (z_pass (run P X l)); contradiction.
    - apply (server_jobs P X rules _ j Hm Ec).
    - destruct Hr as [Hr H]. split; [lia|].
      destruct H as [H|[k [H _]]]; [left; assumption|right; exists k; assumption].
  Qed.
End Steps.

(* On a chip of a stripe, and in a superblock, no step takes longer than it is charged. *)
Section Members.
  Variable d : device.
  Variable chips : list chip.
  Variable channels : list channel.
  Variable rs : list demanded.
  Variable e : stated.
  Variable others : bool.
  Variables N Pages Lam : Z.
  Variable X : trace.
  Hypothesis times_known : device_ok d.
  Hypothesis S3 : forall h, In h channels -> S3_bus (t_d d) h.
  Hypothesis fullest : forall h c, In (h, c) chips -> used (ch channels h) <= m_c d.

  Theorem stripe_timed :
    let P := stripe d rs e others N Pages Lam in
    (forall w, In w rs -> demanded_ok w) ->
    obeys_untimed P X -> joined d false chips channels P X -> obeys P X.
  Proof.
    intros P Hrs HX Hj. apply timed; [assumption|]. intros l s r Hs _ Ht.
    assert (Hin : In s (x_steps X)) by (rewrite Hs; apply in_or_app; right; left; reflexivity).
    pose proof (step_on_bus d false chips channels P X times_known Hj S3 fullest s Hin) as Hb.
    pose proof (no_bus _ _ _ _ _ _ Hj s Hin Ht) as Hn.
    pose proof (right_steps _ _ _ _ _ _ Hj s) as Hk.
    destruct (step_of_class P X HX l s r Hs) as [Hm Hc]. unfold charged.
    destruct (j_class (jb X (s_job s))) as [i|k|j|] eqn:Ec.
    - destruct Hc as [Hi Ha]. specialize (Hk i Hin eq_refl).
      assert (Hq : In (rq P i) (p_rs P)) by (apply nth_In; assumption).
      apply in_map_iff in Hq. destruct Hq as [w [Hw Hw2]]. rewrite <- Hw in *.
      specialize (Hrs w Hw2). unfold demanded_ok in Hrs. unfold stripe_request in *.
      cbn [r_w r_q] in *.
      destruct (w_writes w).
      + destruct (Z.eqb_spec (w_pages w) 0); [lia|].
        destruct (s_act s); try discriminate. specialize (Hb eq_refl). lia.
      + simpl in Hk. rewrite Hk in *. specialize (Hb eq_refl). lia.
    - destruct Hc as [H1 H2]. destruct (s_act s) eqn:Ea; try discriminate; cbn in Hn; simpl.
      + contradiction.
      + exfalso. apply (H2 n). reflexivity.
      + specialize (Hn eq_refl). unfold reads_cost. simpl. lia.
      + apply Hn. reflexivity.
      + apply Hn. reflexivity.
    - destruct (s_act s) eqn:Ea; try discriminate; cbn in Hn; simpl;
        try (specialize (Hb eq_refl); lia); try (apply Hn; reflexivity).
      specialize (Hn eq_refl). unfold reads_cost. simpl. lia.
    - destruct Hc as [Hq Ha]. unfold P in *. simpl in *. destruct (e_server e || others); [|lia].
      destruct Ha as [Ha|[k Ha]]; rewrite Ha in *; specialize (Hb eq_refl); lia.
  Qed.

  (* (29): cr' covers, on each channel of the cluster, the chips of others. *)
  Theorem superblock_timed : forall s cr',
    let P := superblock d s cr' rs e others N Pages Lam in
    (forall h c, In (h, c) chips -> t_r d + t_d d * (1 + others_on chips channels h) <= cr') ->
    (forall w, In w rs -> demanded_ok w) ->
    obeys_untimed P X -> joined d true chips channels P X -> obeys P X.
  Proof.
    intros s0 cr' P Hcr Hrs HX Hj. apply timed; [assumption|]. intros l s r Hs _ Ht.
    assert (Hin : In s (x_steps X)) by (rewrite Hs; apply in_or_app; right; left; reflexivity).
    pose proof (step_on_bus d true chips channels P X times_known Hj S3 fullest s Hin) as Hb.
    pose proof (no_bus _ _ _ _ _ _ Hj s Hin Ht) as Hn.
    pose proof (right_steps _ _ _ _ _ _ Hj s) as Hk.
    assert (Hgc : forall n, s_act s = AGcRead n -> s_en s - s_st s <= c_r d ->
      s_en s - s_st s <= reads_cost P 1 n).
    { intros n Ha Hcr'.
      destruct (gc_read_by_others d true chips channels P X times_known Hj S3 HX s n Hin Ha)
        as [h [c [Hh Hle]]]; [rewrite Ha; reflexivity|].
      specialize (Hcr h c Hh). unfold reads_cost.
      change (p_gr P) with (c_r d). change (p_gr1 P) with cr'. change (p_gt P) with (t_d d). lia. }
    destruct (step_of_class P X HX l s r Hs) as [Hm Hc]. unfold charged.
    destruct (j_class (jb X (s_job s))) as [i|k|j|] eqn:Ec.
    - destruct Hc as [Hi Ha]. specialize (Hk i Hin eq_refl).
      assert (Hq : In (rq P i) (p_rs P)) by (apply nth_In; assumption).
      apply in_map_iff in Hq. destruct Hq as [w [Hw Hw2]]. rewrite <- Hw in *.
      specialize (Hrs w Hw2). unfold demanded_ok in Hrs. unfold superblock_request in *.
      destruct (w_writes w); cbn [r_w r_q] in *.
      + destruct (Z.eqb_spec (w_pages w) 0); [lia|].
        destruct (s_act s); try discriminate. specialize (Hb eq_refl). lia.
      + simpl in Hk.
        destruct (read_by_others d true chips channels P X times_known Hj S3 HX s Hin Hk)
          as [h [c [Hh Hle]]].
        specialize (Hcr h c Hh). lia.
    - destruct Hc as [H1 H2]. destruct (s_act s) eqn:Ea; try discriminate; cbn in Hn; simpl.
      + contradiction.
      + exfalso. apply (H2 n). reflexivity.
      + apply (Hgc n eq_refl). apply Hb. reflexivity.
      + specialize (Hb eq_refl). lia.
      + apply Hn. reflexivity.
    - destruct (s_act s) eqn:Ea; try discriminate; cbn in Hn; simpl;
        try (apply (Hgc n eq_refl); apply Hb; reflexivity);
        try (specialize (Hb eq_refl); lia); apply Hn; reflexivity.
    - destruct Hc as [Hq Ha]. unfold P in *. simpl in *. destruct (e_server e || others); [|lia].
      destruct Ha as [Ha|[k Ha]]; rewrite Ha in *; specialize (Hb eq_refl); lia.
  Qed.
End Members.

(* Theorem S with its bus: whatever the other chips of the channel do there. *)
Theorem theorem_S_on_a_bus : forall d at_ channels rs e o N Pages Lam X,
  device_ok d -> (forall w, In w rs -> demanded_ok w) -> stated_ok e -> 1 <= Pages ->
  let P := stripe d rs e o N Pages Lam in
  certificate_ok P ->                                   (* (C1) to (C4) *)
  demand_test (p_rs P) (p_g P) ->                       (* (T) *)
  obeys_untimed P X ->                                  (* R1 to R5, S1, S2, V1 to V3 *)
  joined d false [at_] channels P X ->                  (* S4 *)
  (forall h, In h channels -> S3_bus (t_d d) h) ->      (* S3 *)
  used (ch channels (fst at_)) <= m_c d ->              (* m_c; see used_le *)
  promises_kept P X.
Proof.
  intros d at_ channels rs e o N Pages Lam X Hd Hrs He HP P HC HT HX Hj HS Hm.
  apply theorem_S; try assumption.
  apply (stripe_timed d [at_] channels); try assumption.
  intros h c [H|[]]. subst. assumption.
Qed.

(* Theorem D with its buses, and with (29). *)
Theorem theorem_D_on_buses : forall d chips channels s cr' rs e o N Pages Lam X,
  device_ok d -> 1 <= s -> t_r d + t_d d <= cr' ->
  (forall w, In w rs -> demanded_ok w) -> stated_ok e -> 1 <= Pages ->
  let P := superblock d s cr' rs e o N Pages Lam in
  certificate_ok P -> demand_test (p_rs P) (p_g P) ->
  obeys_untimed P X ->                                  (* R1 to R5, D1, V1 to V3 *)
  joined d true chips channels P X ->
  (forall h, In h channels -> S3_bus (t_d d) h) ->      (* D2 *)
  (forall h c, In (h, c) chips -> used (ch channels h) <= m_c d) ->
  (forall h c, In (h, c) chips -> t_r d + t_d d * (1 + others_on chips channels h) <= cr') ->
  promises_kept P X.
Proof.
  intros. apply theorem_D; try assumption.
  apply (superblock_timed d chips channels); assumption.
Qed.
