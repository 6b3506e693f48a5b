package import MediaTypes

/// `main` or `sub`: which stream of a user.
package typealias StreamType = SourceID.StreamType

extension SourceID {
    package init(_ uid: String, _ streamType: StreamType = .main) { self.init(uid: uid, streamType: streamType) }
}
