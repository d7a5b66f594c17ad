(* Section 2.7: quick processor-demand analysis by segments. Lemma 5, for the loop (18) of the
   document and for the loop that the code runs. *)
From Coq Require Import ZArith List Lia Bool.
Import ListNotations.
Open Scope Z_scope.

(* At most p rounds of a loop whose body gives a new state or a result. The rounds are counted in
   binary, so that a great number of them costs nothing until they are made. *)
Section Rounds.
  Context {S R : Type} (body : S -> S + R).

  Fixpoint rounds (p : positive) (s : S) : S + R :=
    match p with
    | xH => body s
    | xO q => match rounds q s with inl s' => rounds q s' | r => r end
    | xI q =>
        match body s with
        | inl s' => match rounds q s' with inl s'' => rounds q s'' | r => r end
        | r => r
        end
    end.

  (* What holds of every state, and falls in every round. *)
  Lemma rounds_spec : forall (P : S -> Prop) (Q : R -> Prop) (mu : S -> Z),
    (forall s, P s -> match body s with inl s' => P s' /\ mu s' < mu s | inr r => Q r end) ->
    forall p s, P s ->
    match rounds p s with inl s' => P s' /\ mu s' <= mu s - Zpos p | inr r => Q r end.
  Proof.
    intros P Q mu H. induction p; simpl; intros s Hs.
    - specialize (H s Hs). destruct (body s) as [s1|]; [|assumption]. destruct H as [H1 H2].
      pose proof (IHp s1 H1) as I1. destruct (rounds p s1) as [s2|]; [|assumption].
      destruct I1 as [I1 I1']. pose proof (IHp s2 I1) as I2.
      destruct (rounds p s2); [|assumption]. destruct I2. split; [assumption|]. lia.
    - pose proof (IHp s Hs) as I1. destruct (rounds p s) as [s2|]; [|assumption].
      destruct I1 as [I1 I1']. pose proof (IHp s2 I1) as I2.
      destruct (rounds p s2); [|assumption]. destruct I2. split; [assumption|]. lia.
    - specialize (H s Hs). destruct (body s); [|assumption]. destruct H. split; [assumption|lia].
  Qed.
End Rounds.

Inductive outcome := Holds | Fails (L : Z) | TooLong.

Definition outcome_of (r : Z + option Z) : outcome :=
  match r with inl _ => TooLong | inr None => Holds | inr (Some L) => Fails L end.

Section Segment.
  (* h(L) = ⌈(dbf(L) + B)/(1 - U_s)⌉ in a segment, from d up to e. *)
  Variable h : Z -> Z.
  Variables d e : Z.

  (* (18): while t >= d: if h(t) > t: fail; t = min(h(t), t - 1). *)
  Definition document_body (t : Z) : Z + option Z :=
    if t <? d then inr None
    else if t <? h t then inr (Some t)
    else inl (Z.min (h t) (t - 1)).

  Definition document_loop (fuel : positive) : outcome :=
    outcome_of (rounds document_body fuel e).

  (* The loop of crates/rtflash-analysis/src/demand/search.rs: before(h) is a nanosecond less, and
     nothing is shorter than no time. *)
  Definition code_body (t : Z) : Z + option Z :=
    if t <? h t then inr (Some t)
    else
      let next := Z.max 0 (h t - 1) in
      if next <? d then inr None else inl next.

  Definition code_loop (fuel : positive) : outcome :=
    outcome_of (rounds code_body fuel e).

  (* All that Lemma 5 asks of h. *)
  Hypothesis nondecreasing : forall x y, d <= x <= y -> y <= e -> h x <= h y.

  Let known (t : Z) := t <= e /\ forall L, d <= L <= e -> t < L -> h L <= L.
  Let answer (r : option Z) :=
    match r with
    | None => forall L, d <= L <= e -> h L <= L
    | Some L => d <= L <= e /\ L < h L
    end.

  Lemma document_round : forall t, known t ->
    match document_body t with inl t' => known t' /\ t' < t | inr r => answer r end.
  Proof.
    unfold known, answer, document_body. intros t [Ht Hk].
    destruct (Z.ltb_spec t d); simpl.
    - intros L HL. apply Hk; lia.
    - destruct (Z.ltb_spec t (h t)); simpl; [lia|].
      split; [|lia]. split; [lia|]. intros L HL HtL.
      destruct (Z.le_gt_cases L t) as [Hc|Hc]; [|apply Hk; lia].
      destruct (Z.eq_dec L t) as [->|Hne]; [assumption|].
      assert (h L <= h t) by (apply nondecreasing; lia). lia.
  Qed.

  Lemma code_round : forall t, 0 <= d -> known t -> d <= t ->
    match code_body t with inl t' => known t' /\ d <= t' | inr r => answer r end.
  Proof.
    unfold known, answer, code_body. intros t Hd0 [Ht Hk] Hd.
    destruct (Z.ltb_spec t (h t)); simpl; [lia|].
    destruct (Z.ltb_spec (Z.max 0 (h t - 1)) d); simpl.
    - intros L HL. destruct (Z.le_gt_cases L t) as [Hc|Hc]; [|apply Hk; lia].
      assert (h L <= h t) by (apply nondecreasing; lia). lia.
    - split; [|lia]. split; [lia|]. intros L HL HtL.
      destruct (Z.le_gt_cases L t) as [Hc|Hc]; [|apply Hk; lia].
      assert (h L <= h t) by (apply nondecreasing; lia). lia.
  Qed.

  (* Lemma 5, the document's loop: it ends, and it decides. *)
  Theorem lemma_5_document : forall fuel, e - d + 1 < Zpos fuel ->
    match document_loop fuel with
    | Holds => forall L, d <= L <= e -> h L <= L
    | Fails L => d <= L <= e /\ L < h L
    | TooLong => False
    end.
  Proof.
    intros fuel Hf. unfold document_loop.
    destruct (Z.lt_ge_cases e d) as [Hed|Hed].
    - assert (Hb : document_body e = inr None).
      { unfold document_body. destruct (Z.ltb_spec e d); [reflexivity|lia]. }
      assert (Hr : forall p, rounds document_body p e = inr None).
      { induction p; simpl; rewrite ?Hb, ?IHp; reflexivity. }
      rewrite Hr. simpl. intros. lia.
    - pose proof (rounds_spec document_body (fun t => known t /\ d - 1 <= Z.max t (d - 1))
        answer (fun t => Z.max t (d - 1))) as H.
      assert (H0 : forall s, known s /\ d - 1 <= Z.max s (d - 1) ->
        match document_body s with
        | inl s' => (known s' /\ d - 1 <= Z.max s' (d - 1)) /\ Z.max s' (d - 1) < Z.max s (d - 1)
        | inr r => answer r end).
      { intros s [Hs _]. pose proof (document_round s Hs) as Hr.
        unfold document_body in *. destruct (Z.ltb_spec s d); [assumption|].
        destruct (s <? h s); [assumption|]. destruct Hr. split; [split; [assumption|lia]|lia]. }
      specialize (H H0 fuel e). clear H0.
      assert (Hk : known e /\ d - 1 <= Z.max e (d - 1)).
      { split; [|lia]. unfold known. split; [lia|]. intros. lia. }
      specialize (H Hk). destruct (rounds document_body fuel e) as [t|[L|]]; simpl; try assumption.
      lia.
  Qed.

  (* Lemma 5, the code's loop: what it answers is so, however many rounds it is given. *)
  Theorem lemma_5_code : forall fuel, 0 <= d -> d <= e ->
    match code_loop fuel with
    | Holds => forall L, d <= L <= e -> h L <= L
    | Fails L => d <= L <= e /\ L < h L
    | TooLong => True
    end.
  Proof.
    intros fuel Hd0 Hde. unfold code_loop.
    assert (H : forall p s, known s /\ d <= s ->
      match rounds code_body p s with inl s' => known s' /\ d <= s' | inr r => answer r end).
    { induction p; simpl; intros s Hs.
      - destruct Hs as [Hs1 Hs2]. pose proof (code_round s ltac:(lia) Hs1 Hs2) as Hr.
        destruct (code_body s) as [s1|]; [|assumption].
        pose proof (IHp s1 Hr) as I1. destruct (rounds code_body p s1) as [s2|]; [|assumption].
        apply IHp; assumption.
      - pose proof (IHp s Hs) as I1. destruct (rounds code_body p s) as [s2|]; [|assumption].
        apply IHp; assumption.
      - apply code_round; [assumption|apply Hs|apply Hs]. }
    assert (Hk : known e /\ d <= e) by (split; [split; [lia|intros; lia]|assumption]).
    specialize (H fuel e Hk). destruct (rounds code_body fuel e) as [t|[L|]]; simpl; auto.
  Qed.

  (* It ends where the shortest length is at least one nanosecond. *)
  Theorem lemma_5_code_ends : forall fuel, 1 <= d -> d <= e -> e - d < Zpos fuel ->
    code_loop fuel <> TooLong.
  Proof.
    intros fuel H1 Hde Hf. unfold code_loop.
    pose proof (rounds_spec code_body (fun t => known t /\ d <= t) (fun _ => True) (fun t => t)) as H.
    assert (H0 : forall s, known s /\ d <= s ->
      match code_body s with inl s' => (known s' /\ d <= s') /\ s' < s | inr _ => True end).
    { intros s [Hs1 Hs2]. pose proof (code_round s ltac:(lia) Hs1 Hs2) as Hr.
      unfold code_body in *. destruct (Z.ltb_spec s (h s)); [exact I|].
      destruct (Z.ltb_spec (Z.max 0 (h s - 1)) d); [exact I|].
      split; [assumption|]. lia. }
    specialize (H H0 fuel e).
    assert (Hk : known e /\ d <= e) by (split; [split; [lia|intros; lia]|assumption]).
    specialize (H Hk). destruct (rounds code_body fuel e) as [t|[L|]]; simpl; try discriminate.
    lia.
  Qed.
End Segment.

(* Both loops on one staircase: accepted, and refused at a length that fails. *)
Definition staircase (b L : Z) : Z := 3 * (L / 7) + 2 * (L / 5) + b.

Example document_accepts : document_loop (staircase 1) 5 90 1000 = Holds.
Proof. reflexivity. Qed.
Example code_accepts : code_loop (staircase 1) 5 90 1000 = Holds.
Proof. reflexivity. Qed.
Example document_refuses : document_loop (staircase 6) 5 90 1000 = Fails 22.
Proof. vm_compute. reflexivity. Qed.
Example code_refuses : exists L, code_loop (staircase 6) 5 90 1000 = Fails L /\ L < staircase 6 L.
Proof. eexists. split; vm_compute; reflexivity. Qed.

(* A loop that steps to h(t) - 2 passes over a length that fails. *)
Definition hasty_body (h : Z -> Z) (d t : Z) : Z + option Z :=
  if t <? d then inr None else if t <? h t then inr (Some t) else inl (h t - 2).
Example hasty_is_wrong :
  outcome_of (rounds (hasty_body (fun _ => 6) 5) 1000 10) = Holds /\ (5 < (fun _ : Z => 6) 5).
Proof. split; reflexivity. Qed.
