import Control
import Ingest
import MediaTypes

/// Sources, and their numbers.
extension APISchema {
    /// Which of the two streams of a uid.
    static let streamType = JSONShape.words(["main", "sub"])
    static let sourceState = JSONShape.words(SourceFacts.states)
    /// By which clock a source is shown.
    static let sourceClock = JSONShape.words(["wall", "arrival"])

    static let sources: [APISchema] = [
        SourceFacts.schema, SourceListReply.schema, StatisticsReply.schema, SourceStatisticsReply.schema,
        SourceRefusal.schema, RelayStatus.schema,
        APISchema(
            "Health",
            .object([
                JSONField("level", .words(["normal", "alert_1", "alert_2", "alert_3"])),
                JSONField(
                    "causes",
                    .list(
                        .words([
                            "fps", "gap", "network", "bitrate", "skew", "keyInterval", "jitterBuffer", "decodeErrors",
                            "workerLag", "absent",
                        ])), "causes of any level, the worst first"),
                JSONField(
                    "findings", .list(.named("Finding")), "the causes, each with its level and the measured value"),
            ])),
    ]
}
