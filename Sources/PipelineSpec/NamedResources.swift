package import MediaTypes

/// The files and environment variables that a document names: what a room reads because somebody has written its name.
package struct NamedResource: Sendable, Hashable {
    /// What is done with it. A file that is named as one kind is not thereby named as another: a secret that only signs must not
    /// become a stream key, which is sent away.
    package enum Use: Sendable, Hashable {
        /// The text of a file, by the member that names it, such as `keyFile`.
        case file(member: String)
        /// An environment variable, by the member that names it, such as `keyEnv`.
        case variable(member: String)
        /// A PNG or JPEG file.
        case image
    }

    package let use: Use
    /// Path or name, as written.
    package let name: String

    package init(_ use: Use, _ name: String) {
        self.use = use
        self.name = name
    }

    /// All that a pipeline file or a scene names, each with the path of its member.
    package static func all(in document: JSONNode) -> [(path: String, resource: NamedResource)] {
        var found: [(path: String, resource: NamedResource)] = []
        self.collect(document, "", in: "", &found)
        return found
    }

    /// - Parameter parent: The key whose value, or whose list, the node is.
    private static func collect(
        _ node: JSONNode, _ path: String, in parent: String, _ found: inout [(path: String, resource: NamedResource)]
    ) {
        switch node.content {
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                if let name = element.string, let use = self.use(ofElements: parent) {
                    found.append(("\(path)[\(index)]", NamedResource(use, name)))
                }
                self.collect(element, "\(path)[\(index)]", in: parent, &found)
            }
        case .object(let members):
            // What is free of form names nothing.
            for member in members where member.key != "ext" {
                let place = SpecPath.join(path, member.key)
                if let name = member.value.string {
                    guard let use = Self.use(member.key, in: parent) else { continue }
                    found.append((place, NamedResource(use, name)))
                } else {
                    self.collect(member.value, place, in: member.key, &found)
                }
            }
        default: break
        }
    }

    /// What is done with the files that a list of paths names.
    private static func use(ofElements key: String) -> Use? { key == "fonts" ? .file(member: key) : nil }

    private static func use(_ key: String, in parent: String) -> Use? {
        switch key {
        case "placeholderImage": .image
        case "path" where ["images", "bgImages", "watermarks"].contains(parent): .image
        case "authorities": .file(member: key)
        case "certificate" where parent == "tls", "key" where parent == "tls": .file(member: "tls.\(key)")
        case _ where key.hasSuffix("File"): .file(member: key)
        case _ where key.hasSuffix("Env"): .variable(member: key)
        default: nil
        }
    }
}

/// What a request may name.
package struct ResourceGrants: Sendable {
    /// What the pipeline file names, and what requests before have been granted.
    private let named: Set<NamedResource>
    /// Whether a file that the pipeline file does not name may be used so.
    private let mayUse: @Sendable (NamedResource) -> Bool

    /// - Parameters:
    ///   - documents: The pipeline file, and the document the room runs by.
    ///   - mayUse: Asked for all that they do not name: whether it lies in a directory the operator has given for it.
    package init(_ documents: [JSONNode], mayUse: @escaping @Sendable (NamedResource) -> Bool) {
        self.named = Set(documents.flatMap { NamedResource.all(in: $0).map(\.resource) })
        self.mayUse = mayUse
    }

    package func allows(_ resource: NamedResource) -> Bool { self.named.contains(resource) || self.mayUse(resource) }

    /// Everything that a request names and may not. It is not told whether there is such a file.
    package func mistakes(in document: JSONNode) -> [SpecMistake] {
        NamedResource.all(in: document).filter { !self.allows($0.resource) }.map { path, resource in
            switch resource.use {
            case .variable:
                SpecMistake(
                    path: path, at: .none, what: "names a variable that a request may not name",
                    fix: "name it in the same member of the pipeline file, or use a file of control.secretsDirectory")
            case .file:
                SpecMistake(
                    path: path, at: .none, what: "names a file that a request may not name",
                    fix: "name it in the same member of the pipeline file, or put it into control.secretsDirectory")
            case .image:
                SpecMistake(
                    path: path, at: .none, what: "names a file that a request may not name",
                    fix: "name the image in the pipeline file, or put it into control.imagesDirectory")
            }
        }
    }
}
