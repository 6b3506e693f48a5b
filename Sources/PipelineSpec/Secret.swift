/// Where a secret comes from. Its text never appears in a description, a dump or a message.
package enum Secret: Hashable, Sendable {
    /// The secret itself, written in the pipeline file.
    case inline(String)
    /// Name of the environment variable that holds it.
    case env(String)
    /// Path of the file that holds it; one trailing line break is not part of the secret.
    case file(String)
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String {
        switch self {
        case .inline: "(hidden)"
        case .env(let name): "env \(name)"
        case .file(let path): "file \(path)"
        }
    }

    package var debugDescription: String { self.description }

    /// Hides the secret from `dump` and from the description of whatever holds it.
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>(), displayStyle: .enum) }
}
