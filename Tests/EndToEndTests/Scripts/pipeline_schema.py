"""Checks pipelines/schema.json with two validators from PyPI: jsonschema and fastjsonschema.

usage: pipeline_schema.py ROOT PIPELINE…    Exits with 77 if a validator is not installed."""
import copy
import json
import sys

try:
    import fastjsonschema
    import jsonschema
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(77)

schema = json.load(open(f"{sys.argv[1]}/pipelines/schema.json"))
jsonschema.Draft7Validator.check_schema(schema)
first = jsonschema.Draft7Validator(schema)
second = fastjsonschema.compile(schema)


def verdicts(document):
    """Whether each of the two validators accepts the document."""
    try:
        second(document)
        accepted = True
    except fastjsonschema.JsonSchemaValueException:
        accepted = False
    return first.is_valid(document), accepted


faults = 0
for path in sys.argv[2:]:
    document = json.load(open(path))
    if verdicts(document) != (True, True):
        faults += 1
        print(path, [error.message for error in first.iter_errors(document)][:3])

# Each change makes a valid pipeline invalid.
room = json.load(open(f"{sys.argv[1]}/pipelines/pk-landscape.json"))
BROKEN = [
    ("room", None), ("room.roomId", "a/b"), ("romm", {}), ("apiVersion", "tandem/v2"), ("canvas.fps", 29.97),
    ("canvas.width", "1280"), ("canvas.colour", "#000000"), ("sources", []), ("sources.0.uid", None),
    ("sources.0.volume", 201), ("scenes.0.layout", "side"), ("scenes.0.layout", None), ("outputs.0.type", "dash"),
    ("outputs.0.path", None), ("audio", {"bitrate": 128}), ("renditions", [{"name": "a", "video": {"bitrate": 2500}}]),
]
for path, value in BROKEN:
    document = copy.deepcopy(room)
    *parents, key = path.split(".")
    place = document
    for name in parents:
        place = place[int(name) if name.isdigit() else name]
    if value is None:
        del place[key]
    else:
        place[key] = value
    if verdicts(document) != (False, False):
        faults += 1
        print(f"{path} = {value}: accepted by", verdicts(document))
print(f"{len(sys.argv) - 2} valid and {len(BROKEN)} broken pipelines, {faults} wrong verdicts")
sys.exit(1 if faults else 0)
