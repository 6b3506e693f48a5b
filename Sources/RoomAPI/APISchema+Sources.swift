package import Control
import Ingest
import MediaTypes

/// Sources, and their numbers.
extension APISchema {
    /// Which of the two streams of a uid.
    static let streamType = JSONShape.words(["main", "sub"])
    static let sourceState = JSONShape.words(SourceFacts.states)
    /// By which clock a source is shown.
    static let sourceClock = JSONShape.words(["wall", "arrival"])

    package static let sources: [APISchema] = [
        SourceFacts.schema, SourceListReply.schema, StatisticsReply.schema, SourceStatisticsReply.schema,
        SourceRefusal.schema, RelayStatus.schema, HealthReply.schema,
    ]
}
