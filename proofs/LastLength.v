(* Section 6, Computation: the last length of (T'), (36) to (38), exactly; and that dbf' does not
   decrease. For each other chip either what the chip asks itself or what that one asks is put below
   a line, whichever is chosen; beyond L'_max (T') then holds, where U' < 1 - U_s. *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Qpa Demand Trace Closing Device Frontier Theorem3.
Import ListNotations.
Open Scope Z_scope.

Definition line_scale (c : Z) (l : line) : line := Line (c * l_u l) (c * l_k l) (l_den l).
Definition line_cdiv (l : line) (a : Z) : line :=
  Line (l_u l) (l_k l + (a - 1) * l_den l) (a * l_den l).

Lemma line_scale_below : forall c v L l, 0 <= c -> below_line v L l ->
  below_line (c * v) L (line_scale c l).
Proof.
  intros c v L [u k n] Hc [H1 H2]. unfold below_line, line_scale in *; simpl in *.
  split; [assumption|].
  assert (c * (n * v) <= c * (u * L + k)) by (apply Z.mul_le_mono_nonneg_l; assumption). nia.
Qed.

Lemma line_cdiv_below : forall v L l a, 1 <= a -> below_line v L l ->
  below_line (cdiv v a) L (line_cdiv l a).
Proof.
  intros v L [u k n] a Ha [H1 H2]. unfold below_line, line_cdiv in *; simpl in *.
  split; [nia|]. pose proof (cdiv_le v a ltac:(lia)) as H.
  assert (n * (a * cdiv v a) <= n * (v + a - 1)) by (apply Z.mul_le_mono_nonneg_l; lia). nia.
Qed.

Lemma below_less : forall v w L l, v <= w -> below_line w L l -> below_line v L l.
Proof.
  intros v w L l Hvw [H1 H2]. split; [assumption|].
  assert (l_den l * v <= l_den l * w) by (apply Z.mul_le_mono_nonneg_l; lia). lia.
Qed.

Lemma zero_below : forall L, below_line 0 L line_zero.
Proof. intros L. unfold below_line, line_zero. simpl. lia. Qed.

(* n(L) times x, and ⌈(L + y)/T⌉ times x. *)
Definition due_line (w : demanded) (x : Z) : line := Line x (x * (w_T w - (w_D w - w_J w))) (w_T w).
Definition live_line (w : demanded) (y x : Z) : line := Line x (x * (y + w_T w - 1)) (w_T w).

Lemma due_below : forall d w x L, demanded_ok w -> 0 <= x -> w_D w - w_J w <= L ->
  below_line (jobs_of d w L * x) L (due_line w x).
Proof.
  intros d w x L Hw Hx HL. unfold demanded_ok in Hw. unfold below_line, due_line; simpl.
  split; [lia|]. unfold jobs_of, due_jobs, window, stripe_request; simpl.
  destruct (Z.leb_spec (w_D w - w_J w) L); [|lia].
  pose proof (Z.mul_div_le (L - (w_D w - w_J w)) (w_T w) ltac:(lia)) as Hd.
  set (k := (L - (w_D w - w_J w)) / w_T w) in *.
  assert (x * (w_T w * k) <= x * (L - (w_D w - w_J w))) by (apply Z.mul_le_mono_nonneg_l; lia).
  nia.
Qed.

Lemma live_below : forall w y x L, demanded_ok w -> 0 <= x ->
  below_line (cdiv (L + y) (w_T w) * x) L (live_line w y x).
Proof.
  intros w y x L Hw Hx. unfold demanded_ok in Hw. unfold below_line, live_line; simpl.
  split; [lia|]. pose proof (cdiv_le (L + y) (w_T w) ltac:(lia)) as Hc.
  assert (x * (w_T w * cdiv (L + y) (w_T w)) <= x * (L + y + w_T w - 1))
    by (apply Z.mul_le_mono_nonneg_l; assumption). nia.
Qed.

(* N_j of a stripe and of a superblock: K has 2 pages and less for each that is asked, and one more
   for each rounding. *)
Definition stripe_line (rs : list demanded) : line :=
  lines (fun w => live_line w (w_D w) (w_pages w)) rs.
Definition P_line (rs : list demanded) (e : stated) : line :=
  line_cdiv (lines (fun w => live_line w (e_Dg e + w_J w) (pages_written w)) rs) (e_alpha e).
Definition superblock_line (rs : list demanded) (e : stated) (s Pages : Z) : line :=
  line_add (line_add (lines (fun w => live_line w (w_D w) (pages_read w)) rs)
                     (line_scale (Z.min (e_v e) Pages) (P_line rs e)))
    (line_cdiv (line_add (lines (fun w => live_line w (w_D w) (pages_written w)) rs)
                         (line_scale (e_v e) (P_line rs e))) s).

Section Lines.
  Variable rs : list demanded.
  Hypothesis requests : forall w, In w rs -> demanded_ok w.

  Lemma pages_nonneg : forall w, In w rs ->
    0 <= w_pages w /\ 0 <= pages_read w /\ 0 <= pages_written w.
  Proof.
    intros w Hw. specialize (requests w Hw). unfold demanded_ok in requests.
    unfold pages_read, pages_written. destruct (w_writes w); lia.
  Qed.

  Lemma stripe_below : forall L, below_line (N_stripe rs L) L (stripe_line rs).
  Proof.
    intros L. apply lines_below. intros w Hw. apply live_below; [auto|].
    apply pages_nonneg. assumption.
  Qed.

  Lemma superblock_below : forall e s Pages L, stated_ok e -> 1 <= s -> 0 <= Pages ->
    below_line (N_superblock rs e s Pages L) L (superblock_line rs e s Pages).
  Proof.
    intros e s Pages L He Hs HP. unfold stated_ok in He. unfold N_superblock, superblock_line.
    assert (HPj : below_line (P_j rs e L) L (P_line rs e)).
    { unfold P_j, P_line. apply line_cdiv_below; [lia|]. apply lines_below. intros w Hw.
      replace (L + e_Dg e + w_J w) with (L + (e_Dg e + w_J w)) by lia.
      apply live_below; [auto|]. apply pages_nonneg. assumption. }
    apply line_add_below; [apply line_add_below|].
    - apply lines_below. intros w Hw. apply live_below; [auto|]. apply pages_nonneg. assumption.
    - rewrite Z.mul_comm. apply line_scale_below; [lia|assumption].
    - apply line_cdiv_below; [assumption|]. apply line_add_below.
      + apply lines_below. intros w Hw. apply live_below; [auto|]. apply pages_nonneg. assumption.
      + rewrite Z.mul_comm. apply line_scale_below; [lia|assumption].
  Qed.

  Variable d : device.
  Variable g : collection.
  Variable chips : Z.
  Variable place : nat.
  Variable N : nat -> Z -> option Z.
  Hypothesis times_known : device_ok d.
  Hypothesis gc : collection_ok g.

  (* For each place the neighbour's line, or None, where what the chip asks itself is taken. *)
  Variable theirs : nat -> option line.
  Hypothesis theirs_below : forall c l L, theirs c = Some l ->
    exists n, N c L = Some n /\ below_line n L l.

  Definition own_line : line := lines (fun w => due_line w (w_pages w)) rs.
  Definition wait_line (c : nat) : line :=
    if Nat.eqb c place then line_zero
    else match theirs c with Some l => l | None => own_line end.

  (* U' and K' - q_s. *)
  Definition load_line' : line :=
    line_add (line_add (lines (fun w => due_line w (w_pages w * base d w)) rs)
                (line_scale (t_d d) (lines wait_line (seq 0 (Z.to_nat chips)))))
      (if writes (map (stripe_request d) rs)
       then passes_line (map (stripe_request d) rs) g else line_zero).
  Definition load_fits' : bool := 1000 * l_u load_line' <? share g * l_den load_line'.
  (* (38) *)
  Definition last_length' : Z :=
    Z.max (maxl (fun x => x) (deadlines (map (stripe_request d) rs) g))
      (cdiv (1000 * (l_k load_line' + g_qs g * l_den load_line'))
            (share g * l_den load_line' - 1000 * l_u load_line')).

  Lemma sumn_seq : forall f n, sumn f n = suml f (seq 0 n).
  Proof.
    intros f. induction n; [reflexivity|]. rewrite seq_S, suml_app, <- IHn. simpl. lia.
  Qed.

  Lemma requests_ok : forall r, In r (map (stripe_request d) rs) -> request_ok r.
  Proof.
    intros r Hr. apply in_map_iff in Hr. destruct Hr as [w [<- Hw]]. specialize (requests w Hw).
    unfold demanded_ok in requests. unfold device_ok in times_known.
    unfold request_ok, stripe_request; simpl.
    assert (1 <= c_r d) by (unfold c_r; nia). assert (1 <= c_w d) by (unfold c_w; nia).
    destruct (w_writes w); nia.
  Qed.

  (* (36), (37): dbf'(L) <= U' L + K' - q_s from the longest relative deadline on. *)
  Theorem dbf'_below_line : forall L,
    (forall z, In z (deadlines (map (stripe_request d) rs) g) -> z <= L) ->
    below_line (dbf' d rs g chips place N L) L load_line'.
  Proof.
    intros L HL. unfold dbf', load_line'.
    assert (Hwin : forall w, In w rs -> w_D w - w_J w <= L).
    { intros w Hw. apply HL. unfold deadlines. apply in_or_app. left.
      change (w_D w - w_J w) with (window (stripe_request d w)). apply in_map. apply in_map.
      assumption. }
    assert (Hown : below_line (n_i d rs L) L own_line).
    { apply lines_below. intros w Hw. apply due_below; auto. apply pages_nonneg. assumption. }
    apply line_add_below; [apply line_add_below|].
    - apply lines_below. intros w Hw. apply due_below; auto.
      apply Z.mul_nonneg_nonneg; [apply pages_nonneg; assumption|].
      unfold device_ok in times_known. unfold base. destruct (w_writes w); lia.
    - apply line_scale_below; [apply times_known|]. unfold waited_for. rewrite sumn_seq.
      apply lines_below. intros c _. unfold wait_line.
      destruct (Nat.eqb c place); [apply zero_below|].
      destruct (theirs c) as [l|] eqn:E.
      + destruct (theirs_below c l L E) as [n [HN Hn]]. rewrite HN.
        apply (below_less _ n); [lia|assumption].
      + apply (below_less _ (n_i d rs L)); [|assumption]. destruct (N c L); lia.
    - destruct (writes (map (stripe_request d) rs)) eqn:E.
      + apply (passes_below _ g requests_ok gc). apply HL. unfold deadlines. apply in_or_app. right.
        rewrite E. left. reflexivity.
      + unfold due_passes. destruct (g_D g <=? L); [|apply zero_below].
        unfold arriving. rewrite suml_zero.
        * unfold collection_ok in gc. unfold cdiv. rewrite Z.div_small by lia. apply zero_below.
        * intros r Hr. rewrite (no_writer _ requests_ok E r Hr). lia.
  Qed.

  Theorem last_length'_suffices : load_fits' = true -> forall L, last_length' <= L ->
    fits' d rs g chips place N L.
  Proof.
    intros Hu L HL. unfold load_fits' in Hu. apply Z.ltb_lt in Hu. unfold last_length' in HL.
    assert (Hd : forall z, In z (deadlines (map (stripe_request d) rs) g) -> z <= L).
    { intros z Hz. pose proof (maxl_ge (fun x => x) _ _ Hz). simpl in *. lia. }
    pose proof (dbf'_below_line L Hd) as Hb.
    unfold fits'. rewrite (blocking_beyond _ g gc L Hd).
    destruct load_line' as [u k n]. unfold below_line in Hb; cbn [l_u l_k l_den] in *.
    destruct Hb as [Hn Hb].
    set (m := share g * n - 1000 * u) in *.
    assert (Hm : 0 < m) by lia.
    pose proof (cdiv_ge (1000 * (k + g_qs g * n)) m Hm) as Hc.
    set (cc := cdiv (1000 * (k + g_qs g * n)) m) in *.
    set (D := dbf' d rs g chips place N L) in *. clearbody D cc.
    assert (m * cc <= m * L) by (apply Z.mul_le_mono_nonneg_l; lia).
    assert (n * (1000 * (D + g_qs g)) <= n * (share g * L)); [|nia].
    unfold m in *. nia.
  Qed.

  (* dbf' does not decrease, as Lemma 5 needs, if what the neighbours ask does not. *)
  Definition grows (N : nat -> Z -> option Z) : Prop := forall c x y, 0 <= x <= y ->
    match N c x, N c y with
    | None, None => True
    | Some a, Some b => a <= b
    | _, _ => False
    end.

  Lemma jobs_grow : forall w x y, In w rs -> x <= y -> jobs_of d w x <= jobs_of d w y.
  Proof.
    intros w x y Hw Hxy. apply (due_jobs_mono _ requests_ok); [|assumption].
    apply in_map. assumption.
  Qed.

  Lemma n_i_grows : forall x y, x <= y -> n_i d rs x <= n_i d rs y.
  Proof.
    intros x y Hxy. apply suml_le. intros w Hw. apply Z.mul_le_mono_nonneg_r.
    - apply pages_nonneg. assumption.
    - apply jobs_grow; assumption.
  Qed.

  Theorem dbf'_nondecreasing : grows N -> forall x y, 0 <= x <= y ->
    dbf' d rs g chips place N x <= dbf' d rs g chips place N y.
  Proof.
    intros HN x y Hxy. unfold dbf'.
    assert (H1 : suml (fun w => jobs_of d w x * (w_pages w * base d w)) rs
      <= suml (fun w => jobs_of d w y * (w_pages w * base d w)) rs).
    { apply suml_le. intros w Hw. apply Z.mul_le_mono_nonneg_r.
      - apply Z.mul_nonneg_nonneg; [apply pages_nonneg; assumption|].
        unfold device_ok in times_known. unfold base. destruct (w_writes w); lia.
      - apply jobs_grow; [assumption|lia]. }
    assert (H2 : waited_for d rs chips place N x <= waited_for d rs chips place N y).
    { apply sumn_le. intros c _. destruct (Nat.eqb c place); [lia|].
      pose proof (n_i_grows x y ltac:(lia)). specialize (HN c x y Hxy).
      destruct (N c x); destruct (N c y); try contradiction; lia. }
    assert (H3 : t_d d * waited_for d rs chips place N x <= t_d d * waited_for d rs chips place N y)
      by (apply Z.mul_le_mono_nonneg_l; [apply times_known|assumption]).
    pose proof (due_passes_mono _ g requests_ok gc x y ltac:(lia)) as H4.
    assert (H5 : due_passes (map (stripe_request d) rs) g x * g_C g
      <= due_passes (map (stripe_request d) rs) g y * g_C g).
    { apply Z.mul_le_mono_nonneg_r; [|assumption]. unfold collection_ok in gc. lia. }
    lia.
  Qed.
End Lines.

Lemma live_grows : forall (rs : list demanded) (f g : demanded -> Z) x y,
  (forall w, In w rs -> demanded_ok w) -> (forall w, In w rs -> 0 <= g w) -> x <= y ->
  suml (fun w => cdiv (x + f w) (w_T w) * g w) rs
  <= suml (fun w => cdiv (y + f w) (w_T w) * g w) rs.
Proof.
  intros rs f g x y Hrs Hg Hxy. apply suml_le. intros w Hw. specialize (Hrs w Hw).
  unfold demanded_ok in Hrs. apply Z.mul_le_mono_nonneg_r; [auto|]. apply cdiv_mono; lia.
Qed.

Lemma N_superblock_grows : forall rs e s Pages x y, (forall w, In w rs -> demanded_ok w) ->
  stated_ok e -> 1 <= s -> 0 <= Pages -> x <= y ->
  N_superblock rs e s Pages x <= N_superblock rs e s Pages y.
Proof.
  intros rs e s Pages x y Hrs He Hs HP Hxy. unfold stated_ok in He. unfold N_superblock.
  pose proof (pages_nonneg rs Hrs) as Hp.
  pose proof (live_grows rs w_D pages_read x y Hrs (fun w Hw => proj1 (proj2 (Hp w Hw))) Hxy) as H1.
  pose proof (live_grows rs w_D pages_written x y Hrs (fun w Hw => proj2 (proj2 (Hp w Hw))) Hxy)
    as H2.
  assert (H3 : P_j rs e x <= P_j rs e y).
  { unfold P_j. apply cdiv_mono; [lia|]. apply suml_le. intros w Hw. pose proof (Hp w Hw).
    specialize (Hrs w Hw). unfold demanded_ok in Hrs. apply Z.mul_le_mono_nonneg_r; [lia|].
    apply cdiv_mono; lia. }
  assert (H4 : P_j rs e x * Z.min (e_v e) Pages <= P_j rs e y * Z.min (e_v e) Pages)
    by (apply Z.mul_le_mono_nonneg_r; lia).
  assert (H5 : P_j rs e x * e_v e <= P_j rs e y * e_v e) by (apply Z.mul_le_mono_nonneg_r; lia).
  pose proof (cdiv_mono _ _ s ltac:(lia) (Z.add_le_mono _ _ _ _ H2 H5)) as H6. lia.
Qed.

(* On a device: the lines of the neighbours, and of two lines the one with the smaller rate. *)
Section System.
  Variable Y : system.
  Hypothesis times_known : device_ok (y_d Y).
  Hypothesis statements : forall m, In m (y_members Y) -> stated_well Y m.

  Definition N_line (h c : nat) : option line :=
    match owner Y h c with
    | None => Some line_zero
    | Some m => if e_server (mb_e m) || mb_others m then None
                else if mb_super m
                then Some (superblock_line (mb_rs m) (mb_e m) (Z.of_nat (length (mb_chips m)))
                             (mb_Pages m))
                else Some (stripe_line (mb_rs m))
    end.

  Lemma N_line_below : forall h c l L, N_line h c = Some l ->
    exists n, N_j Y h c L = Some n /\ below_line n L l.
  Proof.
    intros h c l L H. unfold N_line, N_j in *. destruct (owner Y h c) as [m|] eqn:Eo.
    - unfold owner in Eo. apply find_some in Eo. destruct Eo as [Hm Hc].
      apply in_places_spec in Hc. pose proof (statements m Hm) as Hst.
      destruct (e_server (mb_e m) || mb_others m); [discriminate|].
      destruct (mb_super m); injection H as <-; eexists; (split; [reflexivity|]).
      + apply superblock_below.
        * apply (sw_requests Y m Hst).
        * apply (sw_collection Y m Hst).
        * destruct (mb_chips m); [contradiction|]. cbn [length]. lia.
        * pose proof (sw_sizes Y m Hst). lia.
      + apply stripe_below. apply (sw_requests Y m Hst).
    - injection H as <-. exists 0. split; [reflexivity|apply zero_below].
  Qed.

  Theorem N_j_grows : forall h, grows (N_j Y h).
  Proof.
    intros h c x y Hxy. unfold N_j. destruct (owner Y h c) as [m|] eqn:Eo; [|lia].
    unfold owner in Eo. apply find_some in Eo. destruct Eo as [Hm Hc].
    apply in_places_spec in Hc. pose proof (statements m Hm) as Hst.
    destruct (e_server (mb_e m) || mb_others m); [exact I|]. destruct (mb_super m).
    - apply N_superblock_grows; [apply (sw_requests Y m Hst)|apply (sw_collection Y m Hst)| | |lia].
      + destruct (mb_chips m); [contradiction|]. cbn [length]. lia.
      + pose proof (sw_sizes Y m Hst). lia.
    - apply live_grows; [apply (sw_requests Y m Hst)| |lia]. intros w Hw.
      apply (pages_nonneg _ (sw_requests Y m Hst) w Hw).
  Qed.

  Definition smaller (h : nat) (m : member) (c : nat) : option line :=
    match N_line h c with
    | Some l => if l_u l * l_den (own_line (mb_rs m)) <? l_u (own_line (mb_rs m)) * l_den l
                then Some l else None
    | None => None
    end.

  (* A chip passes (T') if U' < 1 - U_s and all lengths below L'_max fit. *)
  Theorem passes_T'_to_last_length : forall m h c, In m (y_members Y) -> mb_super m = false ->
    mb_chips m = [(h, c)] ->
    let n := ch_chips (chan Y h) in
    let g := p_g (proc Y m) in
    load_fits' (mb_rs m) (dev Y m) g n c (smaller h m) = true ->
    (forall L,
       (exists x, In x (deadlines (map (stripe_request (dev Y m)) (mb_rs m)) g) /\ x <= L) ->
       L < last_length' (mb_rs m) (dev Y m) g n c (smaller h m) ->
       fits' (dev Y m) (mb_rs m) g n c (N_j Y h) L) ->
    passes_T' Y m.
  Proof.
    intros m h c Hm Hs Hch n g Hu Hall. exists h, c. split; [assumption|]. intros L HL.
    destruct (Z.lt_ge_cases L (last_length' (mb_rs m) (dev Y m) g n c (smaller h m))) as [Hl|Hl];
      [apply Hall; assumption|].
    apply (last_length'_suffices (mb_rs m) (sw_requests Y m (statements m Hm)) (dev Y m) g n c
      (N_j Y h)) with (theirs := smaller h m); try assumption.
    - apply dev_ok; assumption.
    - apply (ok_collection _ (member_ok Y times_known statements m Hm)).
    - intros b l x Hb. unfold smaller in Hb. destruct (N_line h b) as [k|] eqn:E; [|discriminate].
      destruct (l_u k * l_den (own_line (mb_rs m)) <? l_u (own_line (mb_rs m)) * l_den k);
        [|discriminate].
      injection Hb as <-. apply N_line_below. assumption.
  Qed.
End System.
