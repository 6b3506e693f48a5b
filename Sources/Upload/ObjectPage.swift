import HLS
import MediaTypes

/// An object in a bucket.
package struct StoredObject: Sendable, Hashable {
    /// The whole name, with its prefix.
    package let key: String
    package let bytes: Int64
    /// When it was stored, in Unix seconds.
    package let modified: Int64

    package init(key: String, bytes: Int64, modified: Int64) {
        self.key = key
        self.bytes = bytes
        self.modified = modified
    }
}

/// A page of a bucket's list of objects.
///
/// Spec: Amazon S3 API, ListObjectsV2. Reads only what S3 services write: elements without attributes inside the root, no CDATA.
package struct ObjectPage: Sendable, Hashable {
    package let objects: [StoredObject]
    /// What the request for the next page says; `nil`: this is the last one.
    package let next: String?

    package init(_ objects: [StoredObject], next: String?) {
        (self.objects, self.next) = (objects, next)
    }

    /// - Returns: `nil` for another text, for an object without name, size or time, and for a page that says that it is not the last one but
    ///   not how to get the next: a list that is not complete must not look like one.
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

    /// The text of the first element of this name.
    private static func element(_ name: String, in text: Substring) -> String? {
        guard let start = text.firstRange(of: "<\(name)>"),
            let end = text[start.upperBound...].firstRange(of: "</\(name)>")
        else { return nil }
        return self.plain(text[start.upperBound..<end.lowerBound])
    }

    /// Replaces the predefined entities and numeric references. Spec: XML 1.0 §4.1, §4.6.
    ///
    /// - Returns: `nil` for another reference, and for markup.
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
