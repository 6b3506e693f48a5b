/// The origin of a secret. The secret's text never appears in a description, a dump or a message.
package enum Secret: Hashable, Sendable {
    /// The secret itself, written in the pipeline file.
    case inline(String)
    /// Name of the environment variable that holds the secret.
    case env(String)
    /// Path of the file that holds the secret; one trailing line break is not part of the secret.
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

    /// Hides the secret from `dump` and from the description of every value that contains it.
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>(), displayStyle: .enum) }
}

/// Accessors for the members `…Env` and `…File` of the pipeline file. Setting one of them replaces the secret; setting
/// `nil` has no effect.
extension Secret {
    /// Name of the environment variable that holds the secret; `nil` if the secret comes from elsewhere.
    var variable: String? {
        get { if case .env(let name) = self { name } else { nil } }
        set { if let newValue { self = .env(newValue) } }
    }

    /// Path of the file that holds the secret; `nil` if the secret comes from elsewhere.
    var file: String? {
        get { if case .file(let path) = self { path } else { nil } }
        set { if let newValue { self = .file(newValue) } }
    }
}

extension Secret? {
    /// Name of the environment variable that holds the secret; `nil` if there is no secret or it comes from elsewhere.
    var variable: String? {
        get { self?.variable }
        set { if let newValue { self = .env(newValue) } }
    }

    /// Path of the file that holds the secret; `nil` if there is no secret or it comes from elsewhere.
    var file: String? {
        get { self?.file }
        set { if let newValue { self = .file(newValue) } }
    }
}
