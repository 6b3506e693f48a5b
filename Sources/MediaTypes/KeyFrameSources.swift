/// The sources on air of which only key frames need to be decoded, because nothing shows their other frames.
package enum KeyFrameSources: Sendable, Hashable {
    case none
    case one(SourceID)
    case all

    package func contains(_ source: SourceID) -> Bool {
        switch self {
        case .none: false
        case .one(let only): only == source
        case .all: true
        }
    }
}
