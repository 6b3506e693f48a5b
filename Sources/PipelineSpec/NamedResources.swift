package import MediaTypes

/// A file or environment variable that the room reads, or a directory into which it records, as named in a pipeline file
/// or an API request.
package struct NamedResource: Sendable, Hashable {
    /// What the resource is used for. Permission for one use does not cover another use: a secret that only signs must
    /// not become a stream key, which is sent to another server.
    package enum Use: Sendable, Hashable {
        /// A file other than an image, a media file or a model; `member` is the member that names it, such as `keyFile`.
        case file(member: String)
        /// An environment variable; `member` is the member that names it, such as `keyEnv`.
        case variable(member: String)
        /// A PNG or JPEG file.
        case image
        /// The media file of a file source or an overlay.
        case media
        /// The model for the noise suppression of a source.
        case noiseModel
        /// The directory into which a source is recorded.
        case recordings
    }

    package let use: Use
    /// Path of the file or name of the variable, as written in the document.
    package let name: String

    package init(_ use: Use, _ name: String) {
        self.use = use
        self.name = name
    }

    /// Returns all resources that a pipeline file or a scene names, each with the JSON path of its member.
    package static func all(in document: JSONNode) -> [(path: String, resource: NamedResource)] {
        var found: [(path: String, resource: NamedResource)] = []
        self.collect(document, "", in: "", &found)
        return found
    }

    /// Collects the resources that `node` names.
    ///
    /// - Parameter parent: Key of the member that has `node` as its value, or as an element of its value.
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
            // `ext` has free content and does not name resources.
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

    /// Returns the use of the paths in a list with this key; `nil` if the list does not contain paths.
    private static func use(ofElements key: String) -> Use? { key == "fonts" ? .file(member: key) : nil }

    private static func use(_ key: String, in parent: String) -> Use? {
        switch key {
        case "placeholderImage": .image
        case "path" where ["images", "bgImages", "watermarks"].contains(parent): .image
        case "path" where parent == "sources" || parent == "overlays": .media
        case "noiseModel": .noiseModel
        case "directory" where parent == "record": .recordings
        case "authorities": .file(member: key)
        case "certificate" where parent == "tls", "key" where parent == "tls": .file(member: "tls.\(key)")
        case _ where key.hasSuffix("File"): .file(member: key)
        case _ where key.hasSuffix("Env"): .variable(member: key)
        default: nil
        }
    }
}

/// Which files, environment variables and directories of recordings an API request may name.
package struct ResourceGrants: Sendable {
    /// Resources that the pipeline file or the room's current document names.
    private let named: Set<NamedResource>
    /// Whether a resource that the pipeline file does not name may still be used.
    private let mayUse: @Sendable (NamedResource) -> Bool

    /// Creates the permissions for one request.
    ///
    /// - Parameters:
    ///   - documents: The pipeline file and the room's current document.
    ///   - mayUse: Called for resources that these documents do not name; returns whether the file is in a directory
    ///     that the operator has released for requests.
    package init(_ documents: [JSONNode], mayUse: @escaping @Sendable (NamedResource) -> Bool) {
        self.named = Set(documents.flatMap { NamedResource.all(in: $0).map(\.resource) })
        self.mayUse = mayUse
    }

    package func allows(_ resource: NamedResource) -> Bool { self.named.contains(resource) || self.mayUse(resource) }

    /// Returns a mistake for each resource that a request names without permission. The message does not reveal whether
    /// the file exists.
    package func mistakes(in document: JSONNode) -> [SpecDiagnostic] {
        NamedResource.all(in: document).filter { !self.allows($0.resource) }.map { path, resource in
            switch resource.use {
            case .variable:
                SpecDiagnostic(
                    path: path, at: .none, what: "names an environment variable that requests are not allowed to use",
                    fix: "name it in the same member of the pipeline file, or use a file in control.secretsDirectory")
            case .file:
                SpecDiagnostic(
                    path: path, at: .none, what: "names a file that requests are not allowed to use",
                    fix: "name it in the same member of the pipeline file, or put it into control.secretsDirectory")
            case .image:
                SpecDiagnostic(
                    path: path, at: .none, what: "names a file that requests are not allowed to use",
                    fix: "name the image in the pipeline file, or put it into control.imagesDirectory")
            case .media:
                SpecDiagnostic(
                    path: path, at: .none, what: "names a file that requests are not allowed to use",
                    fix: "name the file as a source in the pipeline file, or put it into control.mediaDirectory")
            case .noiseModel:
                SpecDiagnostic(
                    path: path, at: .none, what: "names a file that requests are not allowed to use",
                    fix: "name the file in noiseModel of the pipeline file, or put it into control.mediaDirectory")
            case .recordings:
                SpecDiagnostic(
                    path: path, at: .none, what: "names a directory that requests are not allowed to write to",
                    fix: "leave it out, or name it in record of a source of the pipeline file")
            }
        }
    }
}
