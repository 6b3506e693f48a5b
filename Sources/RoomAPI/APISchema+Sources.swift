package import Control
import Ingest
import MediaTypes

/// API schemas of sources and their statistics.
extension APISchema {
    /// The stream of a user that a source is: `main` or `sub`.
    static let streamType = JSONShape.words(["main", "sub"])
    static let sourceState = JSONShape.words(SourceFacts.states)
    /// The clock that determines when a source's media is shown: the publisher's `wall` clock, or its time of
    /// `arrival`.
    static let sourceClock = JSONShape.words(["wall", "arrival"])

    package static let sources: [APISchema] = [
        SourceFacts.schema, SourceListReply.schema, StatisticsReply.schema, SourceStatisticsReply.schema,
        SourceRefusal.schema, RelayStatus.schema, SourceRecordingFacts.schema, HealthReply.schema,
    ]
}
