"""The plan of the synthetic grocery store: its items, its buyer types and the rules that are planted.

The items are in the order of their popularity among all buyers.
"""

from __future__ import annotations

from typing import NamedTuple

ITEMS = (
    "whole milk", "bread", "bananas", "eggs", "tomatoes", "butter", "onions", "cheddar cheese", "apples",
    "potatoes", "coffee", "chicken breast", "yogurt", "soda", "chocolate", "lettuce", "ground beef", "garlic",
    "orange juice", "toilet paper", "carrots", "cereal", "beer", "potato chips", "spaghetti", "avocados",
    "ice cream", "rice", "sugar", "red wine", "olive oil", "tomato sauce", "flour", "frozen pizza", "bacon",
    "tortillas", "salsa", "sour cream", "mozzarella", "parmesan", "mushrooms", "bell peppers", "cucumbers",
    "spinach", "broccoli", "blueberries", "strawberries", "sausages", "ketchup", "mustard", "mayonnaise",
    "beef burgers", "burger buns", "tortilla chips", "black beans", "limes", "cilantro", "basil", "jam",
    "honey", "tea", "oat milk", "greek yogurt", "almonds", "quinoa", "tofu", "sparkling water", "popcorn",
    "gummy bears",
    "corn on the cob", "charcoal", "lighter fluid", "baking powder", "vanilla extract", "chocolate chips",
    "cream", "diapers", "baby wipes", "baby food", "infant formula", "dog food", "dog treats", "cat food",
    "cat litter", "paper towels", "laundry detergent", "dish soap", "trash bags", "toothpaste", "shampoo",
    "newspaper", "light bulbs",
)  # fmt: skip


class BuyerType(NamedTuple):
    """A reason to go shopping: how common it is, and how likely each of its items is to be bought.

    Attributes
    ----------
    name : str
        What to call it.
    weight : float
        How common it is, beside the weights of the others.
    items : dict
        The probability of each item by its name.
    """

    name: str
    weight: float
    items: dict[str, float]


class PlantedRule(NamedTuple):
    """A buyer who has all antecedents takes the consequent too, with this probability.

    Attributes
    ----------
    antecedents : tuple of str
        The items that must be there.
    consequent : str
        The item that is added.
    probability : float
        How often it is added.
    """

    antecedents: tuple[str, ...]
    consequent: str
    probability: float


BUYER_TYPES = (
    BuyerType("quick stop", 0.16, {
        "whole milk": 0.38, "bread": 0.36, "newspaper": 0.30, "coffee": 0.18, "soda": 0.20, "chocolate": 0.20,
        "bananas": 0.15,
    }),
    BuyerType("breakfast", 0.13, {
        "whole milk": 0.50, "cereal": 0.58, "bread": 0.55, "eggs": 0.52, "butter": 0.48, "orange juice": 0.45,
        "coffee": 0.50, "bananas": 0.42, "yogurt": 0.38, "jam": 0.32, "bacon": 0.30, "honey": 0.20,
        "tea": 0.22,
    }),
    BuyerType("taco night", 0.09, {
        "tortillas": 0.80, "ground beef": 0.66, "salsa": 0.25, "cheddar cheese": 0.58, "avocados": 0.50,
        "limes": 0.40, "sour cream": 0.46, "lettuce": 0.42, "tomatoes": 0.50, "onions": 0.42,
        "black beans": 0.36, "cilantro": 0.34, "tortilla chips": 0.46, "beer": 0.28,
    }),
    BuyerType("pasta night", 0.09, {
        "spaghetti": 0.80, "tomato sauce": 0.66, "parmesan": 0.25, "ground beef": 0.36, "garlic": 0.50,
        "basil": 0.36, "olive oil": 0.40, "red wine": 0.36, "mozzarella": 0.40, "onions": 0.40,
        "mushrooms": 0.30, "tomatoes": 0.36,
    }),
    BuyerType("barbecue", 0.08, {
        "charcoal": 0.60, "beef burgers": 0.64, "sausages": 0.60, "beer": 0.56, "ketchup": 0.44,
        "mustard": 0.40,
        "soda": 0.44, "corn on the cob": 0.42, "potato chips": 0.40, "lettuce": 0.30, "tomatoes": 0.34,
        "ice cream": 0.28, "mayonnaise": 0.28,
    }),
    BuyerType("baking", 0.08, {
        "flour": 0.80, "sugar": 0.70, "eggs": 0.48, "butter": 0.66, "baking powder": 0.48,
        "vanilla extract": 0.36,
        "chocolate chips": 0.42, "whole milk": 0.54, "cream": 0.36, "strawberries": 0.22, "apples": 0.28,
    }),
    BuyerType("young family", 0.08, {
        "diapers": 0.80, "baby wipes": 0.30, "baby food": 0.56, "infant formula": 0.40, "bananas": 0.50,
        "whole milk": 0.52, "yogurt": 0.44, "apples": 0.40, "beer": 0.26, "bread": 0.36, "carrots": 0.34,
    }),
    BuyerType("healthy", 0.10, {
        "spinach": 0.56, "broccoli": 0.46, "avocados": 0.46, "oat milk": 0.44, "quinoa": 0.36, "tofu": 0.34,
        "blueberries": 0.48, "greek yogurt": 0.50, "almonds": 0.40, "chicken breast": 0.44, "bananas": 0.44,
        "sparkling water": 0.36, "cucumbers": 0.34, "bell peppers": 0.36,
    }),
    BuyerType("movie night", 0.09, {
        "potato chips": 0.62, "soda": 0.62, "popcorn": 0.50, "chocolate": 0.50, "ice cream": 0.46,
        "frozen pizza": 0.52, "beer": 0.32, "gummy bears": 0.38,
    }),
    BuyerType("dog owner", 0.05, {
        "dog food": 0.86, "dog treats": 0.54, "chicken breast": 0.26, "rice": 0.24, "coffee": 0.24,
        "bread": 0.30,
        "apples": 0.24, "trash bags": 0.24,
    }),
    BuyerType("cat owner", 0.05, {
        "cat food": 0.86, "cat litter": 0.60, "tea": 0.28, "whole milk": 0.36, "cream": 0.24,
        "red wine": 0.24,
        "bread": 0.30,
    }),
    BuyerType("household", 0.08, {
        "toilet paper": 0.68, "paper towels": 0.58, "laundry detergent": 0.54, "dish soap": 0.48,
        "trash bags": 0.44, "toothpaste": 0.44, "shampoo": 0.36, "light bulbs": 0.22,
    }),
)  # fmt: skip

RULES = (
    PlantedRule(("tortillas",), "salsa", 0.60),
    PlantedRule(("tortilla chips",), "salsa", 0.45),
    PlantedRule(("spaghetti", "tomato sauce"), "parmesan", 0.55),
    PlantedRule(("beef burgers",), "burger buns", 0.75),
    PlantedRule(("charcoal",), "lighter fluid", 0.50),
    PlantedRule(("cereal",), "whole milk", 0.60),
    PlantedRule(("flour", "sugar"), "eggs", 0.60),
    PlantedRule(("diapers",), "baby wipes", 0.55),
)
