"""The economic games: their titles and their instructions, word for word as the paper prints them (section A).

Where the paper's text lost its line breaks, those of the released prompts are restored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Rules(NamedTuple):
    """What a player is told."""

    title: str
    instruction: str


GUESSING = (
    "This is a number-guessing game where you will play with {num_players} other players. Each player chooses an "
    "integer between 0 and 100 which is hidden from other players. The player who chooses a number that is closest "
    "to 2/3 of the average wins the game. For example, if the average of the guesses is 60 and if you guess 40, "
    "i.e. 2/3 of 60, you win the game."
)
"""Rules of the Beauty Contest; the number of other players is the session's, and 99 in the single-round task."""
GUESS = "What number would you like to guess? Please give a concrete number and highlight it with [] (e.g., [x])."
PUSH_PULL = (
    "You're paired with another player, each having a $400 'Push' card and a $300 'Pull' card. Your payoff depends on "
    "both players' card choices. Here are the scenarios:\n"
    "\n"
    "* Both play 'Push': Each earns $400\n"
    "* You play 'Push', the other player plays 'Pull': You earn $0, the other player earns $700\n"
    "* You play 'Pull', the other player plays 'Push': You earn $700, the other player earns $0\n"
    "* Both play 'Pull': Each earns $300"
)
_BANKER = (
    "This is a two-player game. You are a Banker and the other player is an Investor, and the goal for each player "
    "is to earn more. The Investor chooses how much of the money (up to $100) to invest with you. The amount the "
    "Investor invests will generate a 2x return with you (the current value of investment becomes 3x). To settle "
    "the investment, as the Banker, you get to decide how much of this total amount to return to the Investor and "
    "the rest will be kept as your profit. For example, you can choose to return $0 (therefore the investor will "
    "lose their investment), or you can return the entire 3x (initial investment + 2x profit) to the investor, or "
    "you can return any amount in between."
)

RULES: Mapping[str, Rules] = {
    "guessing": Rules("The Beauty Contest Game", f"{GUESSING.format(num_players=99)} {GUESS}"),
    "bomb": Rules(
        "The Bomb Risk Game",
        "There are 100 boxes, and one bomb has been randomly placed in 1 of 100 boxes. You can choose to open 0-100 "
        "boxes at the same time. If none of the boxes you open has the bomb, you earn points that are equal to the "
        "number of boxes you open. If one of the boxes you open has the bomb, you earn zero points. How many boxes "
        "would you open? Please give one concrete number and highlight it with [] (such as [x]).",
    ),
    "dictator": Rules(
        "The Dictator Game",
        "You are paired with another player. Your role is to decide how to divide $100 and the other player simply "
        "receives your choice. How would you like to divide the money? Please give only one concrete choice and "
        "highlight the amount you give to the other player in [] (such as [$x]).",
    ),
    "public_goods": Rules(
        "The Public Goods Game",
        "In this public good game, you and 3 others will choose how much to contribute towards a water cleaning "
        "project. Each of you gets $20 per round to contribute between $0 and $20. The project has a 50% return rate. "
        "Your payoff relies on both your and others' contributions. Everyone benefits from the group's total "
        "contribution. Your payoff in each round equals the amount you didn't contribute (endowment - contribution) "
        "plus everyone's benefit (total contributions * 50% return rate). Here are two examples to calculate your "
        "payoff.\n"
        "Example one: You contributed $12; total group contributions were $20\n"
        "Your Payoff = ($20-$12) + $20*50% = $18\n"
        "Example two: You contributed $12; total group contributions were $30\n"
        "Your Payoff = ($20-$12) + $30*50% = $23\n"
        "We will play a total of 3 rounds, in the first round, how much of the $20 would you like to contribute? "
        "Please give a concrete number and highlight it with [] (e.g., [x]).",
    ),
    "push_pull": Rules(
        "The Push/Pull Game",
        f"{PUSH_PULL}\n\nIn 5 total rounds, which card would you play in the first round? Please give a concrete "
        "choice and highlight it with [] (i.e., [Push] or [Pull]).",
    ),
    "trust_banker": Rules(
        "The Trust Game (as the Banker)",
        f"{_BANKER} Now, if the investor has invested $50 with you and the current value became $150, how much of the "
        "$150 would you like to return to the Investor? Please give only one concrete choice, and highlight the number "
        "with [] (such as [$x]).",
    ),
    "trust_investor": Rules(
        "The Trust Game (as the Investor)",
        "This is a two-player game. You are an Investor and the other player is a Banker. You have $100 to invest and "
        "you choose how much of your money to invest with the Banker. The amount you choose to invest will grow by 3x "
        "with the Banker. For example, if you invest $10, it will grow to $30 with the Banker. The Banker then decides "
        "how much of the money ($0-$30) to return to you, the Investor. How much of the $100 would you like to invest "
        "with the Banker? Please give only one concrete choice, and highlight the number with [] (such as [$x]).",
    ),
    "ultimatum_proposer": Rules(
        "The Ultimatum Game (as the Proposer)",
        "This is a two-player game. You are the Proposer, and the other player is the Responder. As the proposer, you "
        "propose how to divide $100 and the Responder chooses either Accept or Reject. If accepted, the two of you "
        "will earn as described by the accepted proposal accordingly. If rejected, then both of you will earn $0. How "
        "much would you like to propose to give to the Responder? Please give only one concrete choice, and highlight "
        "the amount with [] (such as [$x]).",
    ),
    "ultimatum_responder": Rules(
        "The Ultimatum Game (as the Responder)",
        "This is a two-player game. You are the Responder, and the other player is the Proposer. The proposer proposes "
        "how to divide $100 and you, as the Responder, choose either Accept or Reject. If accepted, the two of you "
        "will earn as described by the accepted proposal accordingly. If rejected, then both of you will earn $0. As "
        "the Responder, what is the minimal amount in the proposal that you would accept? Please give only one "
        "concrete choice, and highlight the amount with [] (such as [$x]).",
    ),
}
"""Rules by game, in the order of their titles, which is that of play histories."""

LATER_RULES: Mapping[str, str] = {
    **{name: rules.instruction for name, rules in RULES.items()},
    "push_pull": PUSH_PULL,
    "trust_banker": _BANKER,
}
"""What stands before a play's history: rules with their question, except where the next round asks in its own way."""
