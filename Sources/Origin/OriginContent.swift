/// What the origin serves: the objects a packager has published, by name. Called from many threads.
package protocol OriginContent: Sendable {
    /// The object published under `path`, or `nil`. `path` is relative and decoded, such as `v720/s00001.m4s`; it never has
    /// an empty, `.` or `..` component, a backslash or a control character.
    func object(at path: String) -> OriginObject?

    /// True once the room is over and nothing more will be published.
    var ended: Bool { get }
}
