import HLS
import MediaTypes

/// An object in a bucket, as the bucket's list describes it.
package struct StoredObject: Sendable, Hashable {
    /// The full name of the object, including its prefix.
    package let key: String
    package let bytes: Int64
    /// Time of the last modification in seconds since the Unix epoch.
    package let modified: Int64

    package init(key: String, bytes: Int64, modified: Int64) {
        self.key = key
        self.bytes = bytes
        self.modified = modified
    }
}

/// A page of a bucket's list of objects.
///
/// Spec: Amazon S3 API, ListObjectsV2. The parser only supports what S3 services write: inside the root, elements
/// without attributes and no CDATA.
package struct ObjectPage: Sendable, Hashable {
    package let objects: [StoredObject]
    /// Continuation token for the next page; `nil` if this is the last page.
    package let next: String?

    package init(_ objects: [StoredObject], next: String?) {
        (self.objects, self.next) = (objects, next)
    }

    /// Parses a `ListBucketResult` document.
    ///
    /// - Returns: `nil` if the bytes are not such a document, if an object has no name, size or time, or if the page is
    ///   truncated but has no token for the next page: an incomplete list must not look complete.
    package init?(xml bytes: [UInt8]) {
        guard let text = String(validating: bytes, as: UTF8.self), text.contains("<ListBucketResult") else {
            return nil
        }
        var objects: [StoredObject] = []
        var rest = text[...]
        while let start = rest.firstRange(of: "<Contents>") {
            guard let end = rest[start.upperBound...].firstRange(of: "</Contents>") else { return nil }
            let row = rest[start.upperBound..<end.lowerBound]
            guard let key = Self.element("Key", in: row), !key.isEmpty,
                let size = Self.element("Size", in: row).flatMap({ Int64($0) }), size >= 0,
                let time = Self.element("LastModified", in: row).flatMap({ ProgramDate.parse($0) })
            else { return nil }
            objects.append(StoredObject(key: key, bytes: size, modified: time / TimeMath.nanoseconds))
            rest = rest[end.upperBound...]
        }
        guard text.contains("</ListBucketResult>") else { return nil }
        self.objects = objects
        guard Self.element("IsTruncated", in: text[...]) == "true" else {
            self.next = nil
            return
        }
        guard let next = Self.element("NextContinuationToken", in: text[...]), !next.isEmpty else { return nil }
        self.next = next
    }

    /// Returns the text of the first element of this name; `nil` if there is none or ``plain(_:)`` cannot read it.
    private static func element(_ name: String, in text: Substring) -> String? {
        guard let start = text.firstRange(of: "<\(name)>"),
            let end = text[start.upperBound...].firstRange(of: "</\(name)>")
        else { return nil }
        return self.plain(text[start.upperBound..<end.lowerBound])
    }

    /// Decodes the predefined entities and numeric references. Spec: XML 1.0 §4.1, §4.6.
    ///
    /// - Returns: `nil` if the text has any other reference, or markup.
    private static func plain(_ text: Substring) -> String? {
        guard !text.contains("<") else { return nil }
        guard text.contains("&") else { return String(text) }
        let entities: [Substring: Character] = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"]
        var out = ""
        var rest = text
        while let mark = rest.firstIndex(of: "&") {
            out += rest[..<mark]
            guard let end = rest[mark...].firstIndex(of: ";") else { return nil }
            let name = rest[rest.index(after: mark)..<end]
            if let character = entities[name] {
                out.append(character)
            } else {
                let digits = name.hasPrefix("#x") ? name.dropFirst(2) : name.dropFirst()
                guard name.hasPrefix("#"), let number = UInt32(digits, radix: name.hasPrefix("#x") ? 16 : 10),
                    let scalar = Unicode.Scalar(number)
                else { return nil }
                out.unicodeScalars.append(scalar)
            }
            rest = rest[rest.index(after: end)...]
        }
        return out + rest
    }
}
