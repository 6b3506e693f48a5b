package import MediaTypes
package import Upload

/// The operations on a bucket that a retention run needs.
package protocol RetainedBucket: Sendable {
    /// A page of the objects whose names have this prefix, ordered by the bytes of their names.
    ///
    /// - Parameter token: ``ObjectPage/next`` of the page before; `nil` for the first page.
    func page(prefix: String, after token: String?) async throws(MediaError) -> ObjectPage
    /// Reads the object whose full name is `prefix` followed by `name`; `nil` if it does not exist.
    func read(_ name: String, prefix: String) async throws(MediaError) -> [UInt8]?
    /// Deletes the object whose full name is `prefix` followed by `name`.
    func delete(_ name: String, prefix: String) async throws(MediaError)
}

extension BucketClient: RetainedBucket {}

/// Lists the objects whose full names begin with a prefix, one page at a time, so that only one page is in memory.
///
/// Spec: Amazon S3 API, ListObjectsV2: names are ordered by their UTF-8 bytes.
struct ObjectListing {
    /// Highest number of consecutive pages without an object that are accepted.
    private static let mostEmptyPages = 100

    private let bucket: any RetainedBucket
    private let prefix: String
    private var token: String?
    private var isOver = false
    private var last = ""
    private var emptyPages = 0

    init(_ bucket: any RetainedBucket, prefix: String) {
        (self.bucket, self.prefix) = (bucket, prefix)
    }

    /// The objects of the next page; `nil` after the last.
    ///
    /// - Throws: ``MediaTypes/MediaError/Code/unavailable`` if the service does not answer, if its list is not ordered by
    ///   name or repeats itself, or after more than 100 consecutive empty pages. In a list without order, the objects of
    ///   one room could look like several rooms.
    mutating func next() async throws(MediaError) -> [StoredObject]? {
        while !self.isOver {
            let page = try await self.bucket.page(prefix: self.prefix, after: self.token)
            for object in page.objects {
                guard self.last.utf8.lexicographicallyPrecedes(object.key.utf8) else {
                    throw Self.unordered(object.key)
                }
                self.last = object.key
            }
            self.isOver = page.next == nil
            self.token = page.next
            self.emptyPages = page.objects.isEmpty ? self.emptyPages + 1 : 0
            guard self.emptyPages <= Self.mostEmptyPages else { throw Self.unordered("a page without objects") }
            // A service may ignore the prefix: objects outside it must not be removed.
            let objects = page.objects.filter { $0.key.utf8.starts(with: self.prefix.utf8) }
            if !objects.isEmpty { return objects }
        }
        return nil
    }

    private static func unordered(_ what: String) -> MediaError {
        MediaError(
            .unavailable, "the bucket's list repeats itself or is not ordered by name at \(what)", at: "bucket",
            fix: "use a bucket whose service lists objects in the order of their names, as Amazon S3 does")
    }
}
