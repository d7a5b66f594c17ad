(* (34) for a superblock: how many transfers one of its chips makes in (x, z). Reads of users and of
   passes are counted by jobs. Programs are counted by pages of the frontier, which go round the
   chips: of consecutive pages one chip has every s-th. *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Demand Victims Sporadic Bus Trace Reserve Costs Server Edf Closing
  Neighbours Device.
Import ListNotations.
Open Scope Z_scope.

(* Sums over lists and over numbers. *)
Lemma suml_sumn_swap : forall {A : Type} (f : A -> nat -> Z) l n,
  suml (fun s => sumn (f s) n) l = sumn (fun k => suml (fun s => f s k) l) n.
Proof.
  induction l; intros n; simpl.
  - symmetry. apply sumn_zero. reflexivity.
  - rewrite IHl. rewrite <- sumn_add. reflexivity.
Qed.

Lemma suml_add : forall {A : Type} (f g : A -> Z) l,
  suml (fun s => f s + g s) l = suml f l + suml g l.
Proof. induction l; simpl; lia. Qed.

Lemma suml_mul : forall {A : Type} (f : A -> Z) k l, suml (fun s => k * f s) l = k * suml f l.
Proof. induction l; simpl; lia. Qed.

Lemma suml_map : forall {A B : Type} (f : B -> Z) (g : A -> B) l,
  suml f (map g l) = suml (fun x => f (g x)) l.
Proof. induction l; simpl; lia. Qed.

Lemma suml_term : forall {A : Type} (f : A -> Z) l x,
  (forall y, In y l -> 0 <= f y) -> In x l -> f x <= suml f l.
Proof.
  induction l; simpl; intros x H Hx; [contradiction|].
  assert (0 <= f a) by (apply H; auto).
  assert (0 <= suml f l) by (apply suml_nonneg; auto).
  destruct Hx as [->|Hx]; [lia|]. specialize (IHl x ltac:(auto) Hx). lia.
Qed.

(* Transfers of a chip, counted by the steps that they belong to. *)
Lemma count_by_steps : forall d super chips channels P X h c,
  joined d super chips channels P X -> In (h, c) chips ->
  forall (q : nat -> bool) (p : step -> bool),
  (forall k, (k < number_of (ch channels h))%nat -> q k = true ->
     tr_place (tr (ch channels h) k) = c /\
     exists s, In s (x_steps X) /\ p s = true /\ tr_start (tr (ch channels h) k) = s_st s) ->
  countn q (number_of (ch channels h)) <= suml (fun s => ind (p s)) (x_steps X).
Proof.
  intros d super chips channels P X h c Hj Hc q p Hq. set (H := ch channels h) in *.
  set (m := fun s k => q k && (tr_start (tr H k) =? s_st s)).
  apply Z.le_trans with
    (sumn (fun k => suml (fun s => ind (p s && m s k)) (x_steps X)) (number_of H)).
  - apply sumn_le. intros k Hk. unfold ind at 1. destruct (q k) eqn:E.
    + destruct (Hq k Hk E) as [_ [s [Hs [Hp He]]]].
      pose proof (suml_term (fun s => ind (p s && m s k)) (x_steps X) s) as Ht. cbv beta in Ht.
      replace (p s && m s k) with true in Ht.
      * apply Ht; [|assumption]. intros u _. unfold ind. destruct (p u && m u k); lia.
      * unfold m. rewrite Hp, E, He, Z.eqb_refl. reflexivity.
    + apply suml_nonneg. intros u _. unfold ind. destruct (p u && m u k); lia.
  - rewrite <- suml_sumn_swap. apply suml_le. intros s Hs. destruct (p s); simpl.
    + apply countn_le_one. intros k l Hk Hl Ek El. unfold m in Ek, El.
      apply andb_true_iff in Ek. destruct Ek as [Ek Ek2]. apply Z.eqb_eq in Ek2.
      apply andb_true_iff in El. destruct El as [El El2]. apply Z.eqb_eq in El2.
      destruct (Hq k Hk Ek) as [Pk _]. destruct (Hq l Hl El) as [Pl _].
      apply (S4_one _ _ _ _ _ _ Hj h c k l); [|
        |fold H; congruence]; (split; [assumption|split; assumption]).
    + rewrite sumn_zero; [unfold ind; lia|reflexivity].
Qed.

(* A list is cut where a property that does not go away begins. *)
Lemma cut : forall {A : Type} (p : A -> bool) (l : list A),
  (forall a b l1 l2 l3, l = l1 ++ a :: l2 ++ b :: l3 -> p a = true -> p b = true) ->
  exists l1 l2, l = l1 ++ l2 /\ (forall a, In a l1 -> p a = false) /\
    (forall a, In a l2 -> p a = true).
Proof.
  intros A p. induction l as [|a l IH]; intros H.
  - exists [], []. split; [reflexivity|]. split; intros a [].
  - destruct (p a) eqn:E.
    + exists [], (a :: l). split; [reflexivity|]. split; [intros b []|].
      intros b [<-|Hb]; [assumption|]. apply in_split in Hb. destruct Hb as [l2 [l3 ->]].
      apply (H a b [] l2 l3); [reflexivity|assumption].
    + destruct IH as [l1 [l2 [H1 [H2 H3]]]].
      { intros b c x1 x2 x3 Hl. apply (H b c (a :: x1) x2 x3). rewrite Hl. reflexivity. }
      exists (a :: l1), l2. split; [rewrite H1; reflexivity|]. split; [|assumption].
      intros b [<-|Hb]; [assumption|auto].
Qed.

(* Pages programmed before a step: the number of its first one, along the frontier. *)
Definition programmed_before (l : list step) : Z := suml drawn l.

(* Section 4: any s consecutive pages of the frontier are on different chips, and a chip programs in
   a step only a page of that step. *)
Definition frontier (chips : list chip) (channels : list channel) (X : trace) : Prop :=
  exists chip_of : Z -> chip,
    (forall p q, p < q < p + Z.of_nat (length chips) -> chip_of p <> chip_of q) /\
    (forall l s r h c k, x_steps X = l ++ s :: r -> is_prog (s_act s) = true \/
       (exists n, s_act s = ACopy n) ->
       at_chip chips channels h c k -> tr_start (tr (ch channels h) k) = s_st s ->
       exists q, programmed_before l <= q < programmed_before l + drawn s /\ chip_of q = (h, c)).

Definition chip_eqb (a b : chip) : bool := Nat.eqb (fst a) (fst b) && Nat.eqb (snd a) (snd b).
Lemma chip_eqb_spec : forall a b, chip_eqb a b = true <-> a = b.
Proof.
  intros [a1 a2] [b1 b2]. unfold chip_eqb. simpl. rewrite andb_true_iff, !Nat.eqb_eq. split.
  - intros [-> ->]. reflexivity.
  - intros H. injection H as -> ->. auto.
Qed.

Section Pages.
  Variable chip_of : Z -> chip.
  Variable a : chip.
  Variable s : Z.
  Hypothesis apart_ : forall p q, p < q < p + s -> chip_of p <> chip_of q.
  Hypothesis s_positive : 1 <= s.

  (* Pages of the chip among the n from page lo on. *)
  Definition pages_on (lo n : Z) : Z :=
    countn (fun i => chip_eqb (chip_of (lo + Z.of_nat i)) a) (Z.to_nat n).

  Lemma pages_on_add : forall lo m n, 0 <= m -> 0 <= n ->
    pages_on lo (m + n) = pages_on lo m + pages_on (lo + m) n.
  Proof.
    intros lo m n Hm Hn. revert n Hn.
    apply (natlike_ind (fun n => pages_on lo (m + n) = pages_on lo m + pages_on (lo + m) n)).
    - rewrite Z.add_0_r. unfold pages_on at 3. simpl. unfold countn. simpl. lia.
    - intros n Hn IH. unfold pages_on, countn in *.
      replace (Z.to_nat (m + Z.succ n)) with (S (Z.to_nat (m + n))) by lia.
      replace (Z.to_nat (Z.succ n)) with (S (Z.to_nat n)) by lia.
      cbn [sumn]. rewrite IH. replace (lo + Z.of_nat (Z.to_nat (m + n)))
        with (lo + m + Z.of_nat (Z.to_nat n)) by lia. lia.
  Qed.

  (* Every s-th page at most. *)
  Lemma every_sth : forall lo n, 0 <= n -> pages_on lo n <= cdiv n s.
  Proof.
    intros lo n Hn. unfold pages_on.
    apply (countn_pigeon _ _ (fun i => Z.of_nat i / s)).
    - apply cdiv_nonneg; lia.
    - intros m Hm _. split; [apply Z.div_pos; lia|].
      apply Z.div_lt_upper_bound; [lia|]. pose proof (cdiv_ge n s ltac:(lia)). lia.
    - intros i j Hi Hj Hpi Hpj Heq. cbv beta in *.
      apply chip_eqb_spec in Hpi. apply chip_eqb_spec in Hpj.
      destruct (Nat.lt_trichotomy i j) as [Hlt|[|Hlt]]; [exfalso|assumption|exfalso].
      + apply (apart_ (lo + Z.of_nat i) (lo + Z.of_nat j)); [|congruence].
        pose proof (Z.div_mod (Z.of_nat i) s ltac:(lia)).
        pose proof (Z.mod_pos_bound (Z.of_nat i) s ltac:(lia)).
        pose proof (Z.div_mod (Z.of_nat j) s ltac:(lia)).
        pose proof (Z.mod_pos_bound (Z.of_nat j) s ltac:(lia)). rewrite Heq in *. lia.
      + apply (apart_ (lo + Z.of_nat j) (lo + Z.of_nat i)); [|congruence].
        pose proof (Z.div_mod (Z.of_nat i) s ltac:(lia)).
        pose proof (Z.mod_pos_bound (Z.of_nat i) s ltac:(lia)).
        pose proof (Z.div_mod (Z.of_nat j) s ltac:(lia)).
        pose proof (Z.mod_pos_bound (Z.of_nat j) s ltac:(lia)). rewrite Heq in *. lia.
  Qed.

  Lemma one_page_of : forall lo n q, lo <= q < lo + n -> chip_of q = a -> 1 <= pages_on lo n.
  Proof.
    intros lo n q Hq Ha. unfold pages_on, countn.
    pose proof (sumn_term (Z.to_nat n) (fun i => ind (chip_eqb (chip_of (lo + Z.of_nat i)) a))
      (Z.to_nat (q - lo))) as Ht. cbv beta in Ht.
    replace (lo + Z.of_nat (Z.to_nat (q - lo))) with q in Ht by lia.
    rewrite (proj2 (chip_eqb_spec (chip_of q) a) Ha) in Ht. apply Ht; [|lia].
    intros m _. unfold ind. destruct (chip_eqb (chip_of (lo + Z.of_nat m)) a); lia.
  Qed.
End Pages.

Section Passes.
  Variable P : processor.
  Variable X : trace.
  Hypothesis ok : parameters_ok P.
  Hypothesis rules : obeys P X.

  Let n := length (x_jobs X).
  Notation jb := (jb X).
  Notation rq := (rq P).
  Notation run := (run P X).
  Notation steps := (x_steps X).

  Lemma drawn_nonneg : forall s, In s steps -> 0 <= drawn s.
  Proof.
    intros s Hs. destruct (step_of_list P X rules s Hs) as [l [r [_ Hr]]]. unfold step_rule in Hr.
    destruct Hr as [_ [_ [_ [_ [_ [_ [_ Hr]]]]]]]. unfold drawn.
    destruct (j_class (jb (s_job s))).
    - destruct Hr as [_ [[->|[k [-> Hk]]] _]]; lia.
    - destruct Hr as [_ Hr]. destruct (s_act s); try lia.
      + destruct Hr as [Hr _]. destruct (z_pass (run l)); contradiction.
      + destruct Hr as [Hr _]. unfold R4_pass_step in Hr.
        destruct (z_pass (run l)); [lia|contradiction].
    - destruct (s_act s); try lia. destruct Hr as [_ [Hr _]]. unfold R4_pass_step in Hr.
      destruct (z_spass (run l)); [lia|contradiction].
    - destruct Hr as [_ [->|[k [-> Hk]]]]; lia.
  Qed.

  (* What a GC job has read, and copied, so far. *)
  Definition gc_reads (l : list step) (m : nat) : Z :=
    suml (fun s => if Nat.eqb (s_job s) m
                   then match s_act s with AGcRead _ => 1 | _ => 0 end else 0) l.

  Definition pass_bounds (q : pass) : Prop :=
    0 <= ps_r q <= Z.min (p_v P) (p_P P) /\ 0 <= ps_c q <= ps_v q /\ 0 <= ps_v q <= p_v P.

  Lemma gc_counts : forall l r m k, steps = l ++ r -> (m < n)%nat ->
    j_class (jb m) = Gc k -> (forall s, In s l -> pick_ok P s) ->
    let z := run l in
    (match z_pass z with Some q => pass_bounds q | None => True end) /\
    (z_K z < k - 1 -> gc_reads l m = 0 /\ programmed l m = 0) /\
    (z_K z = k - 1 -> gc_reads l m = match z_pass z with Some q => ps_r q | None => 0 end /\
                      programmed l m = match z_pass z with Some q => ps_c q | None => 0 end) /\
    (k <= z_K z -> gc_reads l m <= Z.min (p_v P) (p_P P) /\ programmed l m <= p_v P).
  Proof.
    pose proof (ok_sizes P ok) as Hsz.
    induction l as [|s l IH] using rev_ind; intros r m k Hs Hm Hc Hp z.
    - destruct (R1_released P X rules m k Hm Hc) as [Hk _].
      subst z. simpl. split; [exact I|]. split; [split; reflexivity|].
      split; [split; reflexivity|]. lia.
    - assert (Hs' : steps = l ++ s :: r) by (rewrite Hs, <- app_assoc; reflexivity).
      assert (Hp' : forall x, In x l -> pick_ok P x)
        by (intros x Hx; apply Hp; apply in_or_app; left; assumption).
      assert (Hps : pick_ok P s) by (apply Hp; apply in_or_app; right; left; reflexivity).
      specialize (IH (s :: r) m k Hs' Hm Hc Hp'). cbv zeta in IH.
      destruct IH as [Hw [H1 [H2 H3]]].
      pose proof (prefix_rule P X rules l s r Hs') as Hr. unfold step_rule in Hr.
      destruct Hr as [Hsn [_ [_ [_ [_ [_ [_ Hr]]]]]]].
      subst z. rewrite run_snoc. unfold gc_reads, programmed in *. rewrite !suml_app. simpl.
      set (R := suml (fun s => if Nat.eqb (s_job s) m
                      then match s_act s with AGcRead _ => 1 | _ => 0 end else 0) l) in *.
      set (W := suml (fun s => if Nat.eqb (s_job s) m then drawn s else 0) l) in *.
      unfold finish, begin.
      destruct (j_class (jb (s_job s))) as [i|k'|j|] eqn:Ec.
      + assert (Hne : Nat.eqb (s_job s) m = false) by (apply Nat.eqb_neq; congruence).
        rewrite Hne, !Z.add_0_r. destruct (s_act s); simpl; auto.
      + destruct Hr as [HK Hr].
        destruct (Nat.eq_dec (s_job s) m) as [Heq|Hne].
        * assert (k' = k) by congruence. subst k'.
          specialize (H2 HK). clear H1 H3. destruct H2 as [H2 H4].
          replace (Nat.eqb (s_job s) m) with true by (symmetry; apply Nat.eqb_eq; assumption).
          assert (Hd : drawn s = match s_act s with AProg q | ACopy q => q | _ => 0 end)
            by reflexivity.
          destruct (s_act s) as [|n0|val|n0|n0| |] eqn:Eact; rewrite Hd; clear Hd.
          -- destruct Hr as [Hr _]. destruct (z_pass (run l)); contradiction.
          -- destruct Hr as [Hr _]. destruct (z_pass (run l)); contradiction.
          -- destruct Hr as [Hn [_ [Hlg [_ Hv]]]]. rewrite Hn in *. simpl.
             pose proof (victim_nonneg P X _ _ _ Hv). pose proof (Hps val Eact).
             split; [unfold pass_bounds; simpl; lia|]. lia.
          -- destruct Hr as [HR [Hlg _]]. destruct (z_pass (run l)) as [q|]; [|contradiction].
             simpl in *. unfold pass_bounds in *. simpl. lia.
          -- destruct Hr as [HR [Hlg _]]. destruct (z_pass (run l)) as [q|]; [|contradiction].
             simpl in *. unfold pass_bounds in *. simpl. lia.
          -- destruct Hr as [HR [Hlg _]]. destruct (z_pass (run l)) as [q|]; [|contradiction].
             simpl in *. unfold pass_bounds in *. split; [exact I|]. lia.
          -- destruct Hr as [Hn [_ [Hlg Hlast]]]. rewrite Hn in *. simpl.
             split; [exact I|]. lia.
        * assert (Hkk : k' <> k).
          { intros ->. apply Hne. apply (R1_once P X rules _ _ k); assumption. }
          replace (Nat.eqb (s_job s) m) with false by (symmetry; apply Nat.eqb_neq; assumption).
          rewrite !Z.add_0_r. destruct (s_act s) as [|n0|val|n0|n0| |] eqn:Eact.
          -- destruct Hr as [Hr _]. destruct (z_pass (run l)); contradiction.
          -- destruct Hr as [Hr _]. destruct (z_pass (run l)); contradiction.
          -- destruct Hr as [Hn [_ [Hlg [_ Hv]]]]. simpl.
             pose proof (victim_nonneg P X _ _ _ Hv). pose proof (Hps val Eact).
             split; [unfold pass_bounds; simpl; lia|]. split; [intros; apply H1; lia|].
             split; [intros; lia|]. intros; apply H3; lia.
          -- destruct Hr as [HR _]. destruct (z_pass (run l)) as [q|]; [|contradiction].
             simpl in *. split; [unfold pass_bounds in *; simpl; lia|].
             split; [intros; apply H1; lia|]. split; [intros; lia|]. intros; apply H3; lia.
          -- destruct Hr as [HR _]. destruct (z_pass (run l)) as [q|]; [|contradiction].
             simpl in *. split; [unfold pass_bounds in *; simpl; lia|].
             split; [intros; apply H1; lia|]. split; [intros; lia|]. intros; apply H3; lia.
          -- simpl. split; [exact I|]. split; [intros; apply H1; lia|].
             split; [intros; apply H1; lia|]. intros; apply H3; lia.
          -- destruct Hr as [Hn _]. rewrite Hn. simpl. split; [exact I|].
             split; [intros; apply H1; lia|]. split; [intros; apply H1; lia|].
             intros; apply H3; lia.
      + assert (Hne : Nat.eqb (s_job s) m = false) by (apply Nat.eqb_neq; congruence).
        rewrite Hne, !Z.add_0_r. destruct (s_act s); simpl; auto.
      + assert (Hne : Nat.eqb (s_job s) m = false) by (apply Nat.eqb_neq; congruence).
        rewrite Hne, !Z.add_0_r. destruct (s_act s); simpl; auto.
  Qed.

  (* (41), in GC jobs whose deadline is after x and that are released before z. *)
  Definition passes_live (L : Z) : Z :=
    cdiv (suml (fun r => cdiv (L + g_D (p_g P) + r_J r) (r_T r) * r_w r) (p_rs P))
      (g_alpha (p_g P)).

  Lemma live_passes : forall x z (f : step -> Z) each, x < z -> in_time_up_to X (z - 1) ->
    0 <= each ->
    (forall m k, (m < n)%nat -> j_class (jb m) = Gc k ->
       suml (fun s => if Nat.eqb (s_job s) m then if live x z s then f s else 0 else 0) steps
       <= each) ->
    suml (fun s => if is_gc X (s_job s) && live x z s then f s else 0) steps
    <= each * passes_live (z - x).
  Proof.
    intros x z f each Hxz Hin Heach Hjob.
    pose proof (ok_collection P ok) as Hg. unfold collection_ok in Hg.
    set (g := fun s => if is_gc X (s_job s) && live x z s then f s else 0).
    rewrite (suml_by_key s_job g steps n (job_number P X rules)).
    set (alive := fun m => is_gc X m && ((j_rel (jb m) <? z) && (x <? j_due (jb m)))).
    assert (Hm : forall m, (m < n)%nat ->
      suml (fun s => if Nat.eqb (s_job s) m then g s else 0) steps
      <= if alive m then each else 0).
    { intros m Hm. destruct (alive m) eqn:El.
      - unfold alive in El. apply andb_true_iff in El. destruct El as [Er _].
        pose proof Er as Er2. unfold is_gc in Er.
        destruct (j_class (jb m)) as [i|k|i|] eqn:Ec; try discriminate.
        apply Z.le_trans with (2 := Hjob m k Hm Ec). apply suml_le. intros s _. unfold g.
        destruct (Nat.eqb_spec (s_job s) m) as [He|]; [|lia]. rewrite He, Er2. simpl. lia.
      - rewrite suml_zero; [lia|]. intros s Hs.
        destruct (Nat.eqb_spec (s_job s) m) as [He|]; [|reflexivity]. unfold g.
        destruct (is_gc X (s_job s)) eqn:Er; [|reflexivity].
        destruct (live x z s) eqn:Elv; [exfalso|reflexivity].
        assert (Hrt : real_time X (s_job s) = true)
          by (unfold real_time; rewrite Er, orb_true_r; reflexivity).
        destruct (live_job P X rules x z s Hxz Hin Hs Elv Hrt) as [_ [H1 H2]]. rewrite He in *.
        unfold alive in El. rewrite Er in El. simpl in El.
        destruct (Z.ltb_spec (j_rel (jb m)) z); [|lia].
        destruct (Z.ltb_spec x (j_due (jb m))); [discriminate|lia]. }
    apply (Z.le_trans _ _ _ (sumn_le n _ _ Hm)).
    apply Z.le_trans with (each * countn alive n); [apply sumn_count_mul; intros; lia|].
    apply Z.mul_le_mono_nonneg_l; [assumption|].
    assert (Hal : forall m, (m < n)%nat -> alive m = true ->
      j_class (jb m) = Gc (gc_number X m) /\ x - g_D (p_g P) < j_rel (jb m) < z).
    { intros m Hm' Hs. unfold alive, is_gc in Hs. unfold gc_number.
      destruct (j_class (jb m)) as [i|k|i|] eqn:Ec; try discriminate.
      simpl in Hs. apply andb_true_iff in Hs. destruct Hs as [H1 H2].
      apply Z.ltb_lt in H1. apply Z.ltb_lt in H2.
      destruct (R1_released P X rules m k Hm' Ec) as [_ [_ Hd]]. split; [reflexivity|lia]. }
    set (D := z - 1 - x + g_D (p_g P)).
    pose proof (arrived_in_window P X ok rules (z - 1) D ltac:(unfold D; lia)) as Hw.
    replace (z - 1 - D) with (x - g_D (p_g P)) in Hw by (unfold D; lia).
    apply Z.le_trans with
      (cdiv (arrived X (z - 1) - arrived X (x - g_D (p_g P))) (g_alpha (p_g P))).
    - apply multiples_passed with (k := gc_number X); [lia| | |].
      + apply (arrived_mono P X rules). lia.
      + intros m r Hm' Hr Ha Hb He. destruct (Hal m Hm' Ha) as [E1 _].
        destruct (Hal r Hr Hb) as [E2 _]. rewrite <- He in E2.
        apply (R1_once P X rules m r (gc_number X m)); assumption.
      + intros m Hm' Ha. destruct (Hal m Hm' Ha) as [E [H1 H2]].
        destruct (R1_released P X rules m _ Hm' E) as [_ [Hk _]].
        pose proof (arrived_mono P X rules (j_rel (jb m)) (z - 1) ltac:(lia)).
        pose proof (arrived_mono P X rules (x - g_D (p_g P)) (j_rel (jb m) - 1) ltac:(lia)). lia.
    - unfold passes_live. apply cdiv_mono; [lia|]. apply (Z.le_trans _ _ _ Hw).
      apply suml_le. intros r Hr. pose proof (ok_requests P ok r Hr) as Hok.
      unfold request_ok in Hok. apply Z.mul_le_mono_nonneg_r; [lia|].
      apply cdiv_mono; [lia|]. unfold D. lia.
  Qed.

  (* A GC job's live steps. *)
  Lemma live_pass_counts : forall x z m k, (m < n)%nat -> j_class (jb m) = Gc k ->
    picks_up_to P X (z - 1) ->
    suml (fun s => if Nat.eqb (s_job s) m then if live x z s
      then match s_act s with AGcRead _ => 1 | _ => 0 end else 0 else 0) steps
    <= Z.min (p_v P) (p_P P) /\
    suml (fun s => if Nat.eqb (s_job s) m then if live x z s then drawn s else 0 else 0) steps
    <= p_v P.
  Proof.
    intros x z m k Hm Hc Hpk. pose proof (ok_sizes P ok) as Hsz.
    destruct (split_steps P X rules (z - 1)) as [l [r [[Hs [Hl _]] Hr]]].
    assert (Hp : forall s, In s l -> pick_ok P s).
    { apply (picks_of_prefix P X l r (z - 1) Hs Hpk). assumption. }
    assert (Hdr : forall s, In s l -> 0 <= drawn s).
    { intros s Hx. apply drawn_nonneg. rewrite Hs. apply in_or_app. left. assumption. }
    destruct (gc_counts l r m k Hs Hm Hc Hp) as [Hw [H1 [H2 H3]]].
    assert (Hfit : gc_reads l m <= Z.min (p_v P) (p_P P) /\ programmed l m <= p_v P).
    { destruct (Z.lt_trichotomy (z_K (run l)) (k - 1)) as [H|[H|H]].
      - destruct (H1 H). lia.
      - destruct (H2 H) as [E1 E2]. rewrite E1, E2. destruct (z_pass (run l)) as [q|]; [|lia].
        unfold pass_bounds in Hw. lia.
      - apply H3. lia. }
    assert (Hcut : forall (f : step -> Z), (forall s, In s l -> 0 <= f s) ->
      suml (fun s => if Nat.eqb (s_job s) m then if live x z s then f s else 0 else 0) steps
      <= suml (fun s => if Nat.eqb (s_job s) m then f s else 0) l).
    { intros f Hf. rewrite Hs, suml_app.
      rewrite (suml_zero _ r).
      2:{ intros s Hx. specialize (Hr s Hx). unfold live.
          destruct (Z.ltb_spec (s_st s) z); [lia|]. simpl.
          destruct (Nat.eqb (s_job s) m); reflexivity. }
      rewrite Z.add_0_r. apply suml_le. intros s Hx. specialize (Hf s Hx).
      destruct (Nat.eqb (s_job s) m); [|lia]. destruct (live x z s); lia. }
    split.
    - apply Z.le_trans with (2 := proj1 Hfit). apply Hcut. intros s _. destruct (s_act s); lia.
    - apply Z.le_trans with (2 := proj2 Hfit). apply Hcut. assumption.
  Qed.
End Passes.

(* A superblock without server and background jobs. *)
Section Neighbour.
  Variable d : device.
  Variable chips : list chip.
  Variable channels : list channel.
  Variable P : processor.
  Variable X : trace.
  Variables h c : nat.
  Hypothesis ok : parameters_ok P.
  Hypothesis rules : obeys P X.
  Hypothesis join : joined d true chips channels P X.
  Hypothesis mine : In (h, c) chips.
  Hypothesis round : frontier chips channels X.
  Hypothesis no_server : p_server P = false.
  Hypothesis no_background : g_qs (p_g P) = 0.

  Let H := ch channels h.
  Hypothesis S3 : S3_bus (t_d d) H.
  Let n := length (x_jobs X).
  Notation jb := (jb X).
  Notation rq := (rq P).
  Notation steps := (x_steps X).

  Definition is_gc_read (a : action) : bool := match a with AGcRead _ => true | _ => false end.
  Definition is_program (a : action) : bool :=
    match a with AProg _ | ACopy _ => true | _ => false end.

  (* Its steps that use the bus are of three kinds. *)
  Lemma kinds : forall s, In s steps -> uses_bus true (s_act s) = true ->
    (is_request X (s_job s) = true /\ is_read (s_act s) = true) \/
    (is_gc X (s_job s) = true /\ is_gc_read (s_act s) = true) \/
    is_program (s_act s) = true.
  Proof.
    intros s Hs Hu. destruct (step_of_list P X rules s Hs) as [l [r [_ Hrule]]].
    unfold step_rule in Hrule. destruct Hrule as [Hm [_ [_ [_ [_ [_ [_ Hrule]]]]]]].
    unfold is_request, is_gc. destruct (j_class (jb (s_job s))) as [i|g|j|] eqn:Ec.
    - destruct Hrule as [_ [[->|[k [-> _]]] _]]; [left|right; right]; auto.
    - destruct Hrule as [_ Hrule]. destruct (s_act s); try discriminate; auto.
      destruct Hrule as [Hrule _]. destruct (z_pass (run P X l)); contradiction.
    - destruct (server_jobs P X rules _ j Hm Ec) as [Hsv _]. congruence.
    - destruct Hrule as [Hl _]. lia.
  Qed.

  Section Window.
    Variables x z : Z.
    Hypothesis window_known : x < z.
    Hypothesis in_time : in_time_up_to X (z - 1).
    Hypothesis picks : picks_up_to P X (z - 1).

    Let occ (k : nat) : bool :=
      occupies (place_of H) (granted_of H) (over_of H) x z (Z.of_nat c) k.

    (* A transfer that occupies the bus belongs to a live step. *)
    Lemma occupied : forall k, (k < number_of H)%nat -> occ k = true ->
      at_chip chips channels h c k /\
      exists s, In s steps /\ live x z s = true /\ uses_bus true (s_act s) = true /\
        tr_start (tr H k) = s_st s.
    Proof.
      intros k Hk Ho. unfold occ, occupies in Ho. apply andb_true_iff in Ho.
      destruct Ho as [Ho Ho3]. apply andb_true_iff in Ho. destruct Ho as [Ho1 Ho2].
      apply Z.eqb_eq in Ho1. apply Z.ltb_lt in Ho2. apply Z.ltb_lt in Ho3.
      unfold place_of, granted_of, over_of in *.
      assert (Hat : at_chip chips channels h c k).
      { split; [assumption|]. split; [assumption|]. fold H. lia. }
      split; [assumption|].
      destruct (S4_none_else _ _ _ _ _ _ join h c k Hat) as [s [Hs [Hu [Hst Hpt]]]].
      exists s. split; [assumption|]. fold H in Hpt, Hst.
      destruct S3 as [Hbus _]. pose proof (times _ _ _ _ _ _ _ Hbus k Hk) as Ht.
      unfold asked_of, granted_of, over_of in Ht.
      split; [|split; assumption]. apply live_spec.
      unfold part_of in Hpt. destruct (s_act s); try discriminate; lia.
    Qed.

    Let of_kind (p : step -> bool) (k : nat) : bool :=
      occ k && existsb (fun s => live x z s && p s && (tr_start (tr H k) =? s_st s)) steps.

    Lemma count_kind : forall p,
      countn (of_kind p) (number_of H) <= suml (fun s => ind (live x z s && p s)) steps.
    Proof.
      intros p. apply (count_by_steps d true chips channels P X h c join mine).
      intros k Hk Hq. unfold of_kind in Hq. apply andb_true_iff in Hq. destruct Hq as [Ho He].
      destruct (occupied k Hk Ho) as [[_ [_ Hp]] _]. split; [assumption|].
      apply existsb_exists in He. destruct He as [s [Hs He]]. apply andb_true_iff in He.
      destruct He as [He1 He2]. apply Z.eqb_eq in He2. exists s. auto.
    Qed.

    (* Users' reads. *)
    Lemma reads_bounded :
      suml (fun s => ind (live x z s && (is_request X (s_job s) && is_read (s_act s)))) steps
      <= suml (fun r => cdiv (z - x + r_D r) (r_T r) *
                        (if r_w r =? 0 then r_C r / r_q r else 0)) (p_rs P).
    Proof.
      apply Z.le_trans with
        (suml (fun s => if is_request X (s_job s) && live x z s then ind (is_read (s_act s)) else 0)
          steps).
      - apply suml_le. intros s _. destruct (live x z s); destruct (is_request X (s_job s));
          destruct (is_read (s_act s)); simpl; lia.
      - apply (live_requests P X ok rules); try assumption.
        + intros r Hr. pose proof (ok_requests P ok r Hr) as Hok. unfold request_ok in Hok.
          destruct (r_w r =? 0); [apply Z.div_pos; lia|lia].
        + intros m i Hm Ec. pose proof (sporadic P X rules m i Hm Ec) as [Hi Hsp].
          assert (Hinr : In (rq i) (p_rs P)) by (apply nth_In; assumption).
          pose proof (ok_requests P ok _ Hinr) as Hok. unfold request_ok in Hok.
          destruct (r_w (rq i) =? 0) eqn:Ew.
          * destruct (parts_of_request P X rules steps [] m i
              ltac:(rewrite app_nil_r; reflexivity) Hm Ec) as [Hp _].
            assert (j_parts (jb m) <= r_C (rq i) / r_q (rq i)) by (apply Z.div_le_lower_bound; lia).
            apply Z.le_trans with (parts steps m); [|lia]. unfold parts.
            apply suml_le. intros s _. unfold ind. destruct (Nat.eqb (s_job s) m); [|lia].
            destruct (live x z s); destruct (is_read (s_act s)); lia.
          * rewrite suml_zero; [lia|]. intros s Hs.
            destruct (Nat.eqb_spec (s_job s) m) as [E|]; [|reflexivity].
            pose proof (right_steps _ _ _ _ _ _ join s i Hs ltac:(rewrite E; assumption)) as Hk.
            rewrite Ew in Hk. destruct (s_act s); try discriminate. simpl.
            destruct (live x z s); reflexivity.
    Qed.

    (* Reads of passes. *)
    Lemma gc_reads_bounded :
      suml (fun s => ind (live x z s && (is_gc X (s_job s) && is_gc_read (s_act s)))) steps
      <= Z.min (p_v P) (p_P P) * passes_live P (z - x).
    Proof.
      pose proof (ok_sizes P ok) as Hsz.
      apply Z.le_trans with
        (suml (fun s => if is_gc X (s_job s) && live x z s
                        then match s_act s with AGcRead _ => 1 | _ => 0 end else 0) steps).
      - apply suml_le. intros s _. destruct (live x z s); destruct (is_gc X (s_job s));
          destruct (s_act s); simpl; lia.
      - apply (live_passes P X ok rules); try assumption; [lia|].
        intros m k Hm Hc. apply (live_pass_counts P X ok rules x z m k Hm Hc picks).
    Qed.

    (* Pages that live steps program. *)
    Definition live_pages : Z := suml (fun s => if live x z s then drawn s else 0) steps.

    Lemma live_pages_bounded : live_pages
      <= suml (fun r => cdiv (z - x + r_D r) (r_T r) * r_w r) (p_rs P)
         + p_v P * passes_live P (z - x).
    Proof.
      pose proof (ok_sizes P ok) as Hsz.
      assert (Hr : suml (fun s => if is_request X (s_job s) && live x z s then drawn s else 0) steps
        <= suml (fun r => cdiv (z - x + r_D r) (r_T r) * r_w r) (p_rs P)).
      { apply (live_requests P X ok rules); try assumption.
        - intros r Hr. pose proof (ok_requests P ok r Hr) as Hok. unfold request_ok in Hok. lia.
        - intros m i Hm Ec. pose proof (sporadic P X rules m i Hm Ec) as [Hi Hsp].
          assert (Hreq : is_request X m = true) by (unfold is_request; rewrite Ec; reflexivity).
          destruct (programmed_of_request P X rules steps [] m
            ltac:(rewrite app_nil_r; reflexivity) Hm Hreq) as [Hp _].
          apply Z.le_trans with (programmed steps m); [|lia]. unfold programmed.
          apply suml_le. intros s Hs. pose proof (drawn_nonneg P X rules s Hs).
          destruct (Nat.eqb (s_job s) m); [|lia]. destruct (live x z s); lia. }
      assert (Hg : suml (fun s => if is_gc X (s_job s) && live x z s then drawn s else 0) steps
        <= p_v P * passes_live P (z - x)).
      { apply (live_passes P X ok rules); try assumption; [lia|].
        intros m k Hm Hc. apply (live_pass_counts P X ok rules x z m k Hm Hc picks). }
      enough (Hsum : live_pages <= suml (fun s =>
        (if is_request X (s_job s) && live x z s then drawn s else 0)
        + (if is_gc X (s_job s) && live x z s then drawn s else 0)) steps).
      { rewrite suml_add in Hsum. lia. }
      apply suml_le. intros s Hs. pose proof (drawn_nonneg P X rules s Hs) as Hd.
      destruct (live x z s) eqn:El; [|rewrite !andb_false_r; lia].
      destruct (uses_bus true (s_act s)) eqn:Eu.
      - destruct (step_of_list P X rules s Hs) as [l [r [_ Hrule]]].
        unfold step_rule in Hrule. destruct Hrule as [Hm [_ [_ [_ [_ [_ [_ Hrule]]]]]]].
        unfold is_request, is_gc. destruct (j_class (jb (s_job s))) as [i|g|j|] eqn:Ec;
          simpl; try lia.
        + destruct (server_jobs P X rules _ j Hm Ec) as [Hsv _]. congruence.
      - assert (drawn s = 0) by (unfold drawn; destruct (s_act s); try discriminate; reflexivity).
        destruct (is_request X (s_job s)); destruct (is_gc X (s_job s)); simpl; lia.
    Qed.

    (* Programs of one chip: one page of s, of those that live steps program. *)
    Lemma programs_bounded :
      countn (of_kind (fun s => is_program (s_act s))) (number_of H)
      <= cdiv live_pages (Z.of_nat (length chips)).
    Proof.
      destruct round as [chip_of [Hapart Hpages]].
      assert (Hlen : 1 <= Z.of_nat (length chips)).
      { destruct chips; [contradiction|]. cbn [length]. lia. }
      set (hit := fun s => live x z s && (is_program (s_act s) && existsb (fun k =>
        Nat.eqb (tr_place (tr H k)) c && (tr_start (tr H k) =? s_st s)) (seq 0 (number_of H)))).
      assert (Hcount : countn (of_kind (fun s => is_program (s_act s))) (number_of H)
        <= suml (fun s => ind (hit s)) steps).
      { apply (count_by_steps d true chips channels P X h c join mine).
        intros k Hk Hq. unfold of_kind in Hq. apply andb_true_iff in Hq. destruct Hq as [Ho He].
        destruct (occupied k Hk Ho) as [[_ [_ Hp]] _]. split; [assumption|].
        apply existsb_exists in He. destruct He as [s [Hs He]]. apply andb_true_iff in He.
        destruct He as [He1 He2]. apply andb_true_iff in He1. destruct He1 as [He1 He3].
        pose proof He2 as He4. apply Z.eqb_eq in He2. exists s. split; [assumption|].
        split; [|assumption]. unfold hit. rewrite He1, He3. simpl.
        fold H in Hk, Hp. apply existsb_exists. exists k. split; [apply in_seq; lia|].
        rewrite Hp, Nat.eqb_refl, He4. reflexivity. }
      (* live steps are in a row *)
      destruct (cut (fun s => x <? s_en s) steps) as [l1 [l2 [Hl12 [Hl1 Hl2]]]].
      { intros a b a1 a2 a3 Heq Ha. apply Z.ltb_lt in Ha. apply Z.ltb_lt.
        pose proof (step_order P X rules a1 a _ Heq) as [_ [_ Ho]].
        assert (Hb : In b (a2 ++ b :: a3)) by (apply in_or_app; right; left; reflexivity).
        specialize (Ho b Hb).
        assert (Hbs : In b steps) by (rewrite Heq; apply in_or_app; right; right; assumption).
        destruct (step_of_list P X rules b Hbs) as [b1 [b2 [Heb _]]].
        pose proof (step_order P X rules b1 b b2 Heb) as [Hob _]. lia. }
      destruct (cut (fun s => z <=? s_st s) l2) as [mid [l3 [Hl23 [Hmid Hl3]]]].
      { intros a b a1 a2 a3 Heq Ha. apply Z.leb_le in Ha. apply Z.leb_le.
        assert (Heq2 : steps = (l1 ++ a1) ++ a :: (a2 ++ b :: a3)).
        { rewrite Hl12, Heq, <- app_assoc. reflexivity. }
        pose proof (step_order P X rules _ a _ Heq2) as [Ho1 [_ Ho]].
        assert (Hb : In b (a2 ++ b :: a3)) by (apply in_or_app; right; left; reflexivity).
        specialize (Ho b Hb). lia. }
      assert (Hall : suml (fun s => ind (hit s)) steps = suml (fun s => ind (hit s)) mid).
      { rewrite Hl12, Hl23, !suml_app.
        rewrite (suml_zero _ l1).
        2:{ intros s Hs. specialize (Hl1 s Hs). unfold hit, live. rewrite Hl1, andb_false_r.
            reflexivity. }
        rewrite (suml_zero _ l3); [lia|].
        intros s Hs. specialize (Hl3 s Hs). apply Z.leb_le in Hl3. unfold hit, live.
        destruct (Z.ltb_spec (s_st s) z); [lia|]. reflexivity. }
      assert (Hpg : forall m l r, steps = l ++ m ++ r ->
        suml (fun s => ind (hit s)) m
        <= pages_on chip_of (h, c) (programmed_before l) (suml drawn m)).
      { induction m as [|s m IH]; intros l r Heq; [simpl; unfold pages_on, countn; simpl; lia|].
        simpl. assert (Hs : In s steps) by (rewrite Heq; apply in_or_app; right; left; reflexivity).
        pose proof (drawn_nonneg P X rules s Hs) as Hd.
        assert (Hdm : 0 <= suml drawn m).
        { apply suml_nonneg. intros u Hu. apply (drawn_nonneg P X rules). rewrite Heq.
          apply in_or_app. right. right. apply in_or_app. left. assumption. }
        rewrite (pages_on_add chip_of (h, c) _ _ _ Hd Hdm).
        specialize (IH (l ++ [s]) r). rewrite <- app_assoc in IH. specialize (IH Heq).
        replace (programmed_before (l ++ [s])) with (programmed_before l + drawn s) in IH.
        2:{ unfold programmed_before. rewrite suml_app. simpl. lia. }
        assert (Hh : ind (hit s) <= pages_on chip_of (h, c) (programmed_before l) (drawn s)).
        { unfold ind. destruct (hit s) eqn:Eh; [|apply countn_nonneg].
          unfold hit in Eh. apply andb_true_iff in Eh. destruct Eh as [_ Eh].
          apply andb_true_iff in Eh. destruct Eh as [Ea Eh]. apply existsb_exists in Eh.
          destruct Eh as [k [Hk Eh]]. apply in_seq in Hk. apply andb_true_iff in Eh.
          destruct Eh as [E1 E2]. apply Nat.eqb_eq in E1. apply Z.eqb_eq in E2.
          destruct (Hpages l s (m ++ r) h c k Heq) as [q [Hq1 Hq2]].
          - destruct (s_act s); try discriminate; [left; reflexivity|right; eexists; reflexivity].
          - split; [assumption|]. split; [fold H; lia|assumption].
          - assumption.
          - apply (one_page_of chip_of (h, c) _ _ q); assumption. }
        lia. }
      specialize (Hpg mid l1 l3 ltac:(rewrite Hl12, Hl23; reflexivity)).
      assert (Hd : 0 <= suml drawn mid).
      { apply suml_nonneg. intros u Hu. apply (drawn_nonneg P X rules). rewrite Hl12, Hl23.
        apply in_or_app. right. apply in_or_app. left. assumption. }
      pose proof (every_sth chip_of (h, c) _ Hapart Hlen (programmed_before l1) _ Hd) as Hs.
      assert (Hle : suml drawn mid <= live_pages).
      { unfold live_pages. rewrite Hl12, Hl23, !suml_app.
        assert (Hn1 : 0 <= suml (fun s => if live x z s then drawn s else 0) l1).
        { apply suml_nonneg. intros u Hu. destruct (live x z u); [|lia].
          apply (drawn_nonneg P X rules). rewrite Hl12. apply in_or_app. left. assumption. }
        assert (Hn3 : 0 <= suml (fun s => if live x z s then drawn s else 0) l3).
        { apply suml_nonneg. intros u Hu. destruct (live x z u); [|lia].
          apply (drawn_nonneg P X rules). rewrite Hl12, Hl23. apply in_or_app. right.
          apply in_or_app. right. assumption. }
        assert (Hm : suml drawn mid = suml (fun s => if live x z s then drawn s else 0) mid).
        { apply suml_ext. intros u Hu.
          assert (In u l2) by (rewrite Hl23; apply in_or_app; left; assumption).
          specialize (Hl2 u ltac:(assumption)). specialize (Hmid u Hu). apply Z.leb_gt in Hmid.
          unfold live. rewrite Hl2. destruct (Z.ltb_spec (s_st u) z); [reflexivity|lia]. }
        lia. }
      pose proof (cdiv_mono _ _ (Z.of_nat (length chips)) ltac:(lia) Hle). lia.
    Qed.

    (* (34) for a chip of a superblock. *)
    Theorem superblock_transfers :
      transfers_of (number_of H) (place_of H) (granted_of H) (over_of H) x z (Z.of_nat c)
      <= suml (fun r => cdiv (z - x + r_D r) (r_T r) *
                        (if r_w r =? 0 then r_C r / r_q r else 0)) (p_rs P)
         + Z.min (p_v P) (p_P P) * passes_live P (z - x)
         + cdiv (suml (fun r => cdiv (z - x + r_D r) (r_T r) * r_w r) (p_rs P)
                 + p_v P * passes_live P (z - x)) (Z.of_nat (length chips)).
    Proof.
      assert (Hlen : 1 <= Z.of_nat (length chips)).
      { destruct chips; [contradiction|]. cbn [length]. lia. }
      set (p1 := fun s => is_request X (s_job s) && is_read (s_act s)).
      set (p2 := fun s => is_gc X (s_job s) && is_gc_read (s_act s)).
      set (p3 := fun s => is_program (s_act s)).
      assert (Hsplit : countn occ (number_of H) <= countn (of_kind p1) (number_of H)
        + countn (of_kind p2) (number_of H) + countn (of_kind p3) (number_of H)).
      { unfold countn. rewrite <- !sumn_add. apply sumn_le. intros k Hk. unfold ind at 1.
        assert (Hi : forall p, 0 <= ind (of_kind p k))
          by (intros p; unfold ind; destruct (of_kind p k); lia).
        pose proof (Hi p1). pose proof (Hi p2). pose proof (Hi p3).
        destruct (occ k) eqn:Eo; [|lia].
        destruct (occupied k Hk Eo) as [_ [s [Hs [Hl [Hu He]]]]].
        assert (Hkind : forall p, p s = true -> ind (of_kind p k) = 1).
        { intros p Hp. unfold of_kind. rewrite Eo. simpl.
          replace (existsb (fun s => live x z s && p s && (tr_start (tr H k) =? s_st s)) steps)
            with true; [reflexivity|].
          symmetry. apply existsb_exists. exists s. split; [assumption|].
          rewrite Hl, Hp, He, Z.eqb_refl. reflexivity. }
        destruct (kinds s Hs Hu) as [[K1 K2]|[[K1 K2]|K]].
        - rewrite (Hkind p1) by (unfold p1; rewrite K1, K2; reflexivity). lia.
        - rewrite (Hkind p2) by (unfold p2; rewrite K1, K2; reflexivity). lia.
        - rewrite (Hkind p3 K). lia. }
      pose proof (count_kind p1) as H1. pose proof (count_kind p2) as H2.
      pose proof reads_bounded as H3. pose proof gc_reads_bounded as H4.
      pose proof programs_bounded as H5. pose proof live_pages_bounded as H6.
      assert (Hpos : 0 < Z.of_nat (length chips)) by lia.
      pose proof (cdiv_mono _ _ (Z.of_nat (length chips)) Hpos H6) as H7.
      unfold transfers_of.
      change (countn (occupies (place_of H) (granted_of H) (over_of H) x z (Z.of_nat c))
        (number_of H)) with (countn occ (number_of H)).
      unfold p1, p2, p3 in *. lia.
    Qed.
  End Window.
End Neighbour.
