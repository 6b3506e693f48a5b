package import HTTPTypes
import NIOCore
import Synchronization

/// Status and header fields of a reply to many clients; they are assembled once and rendered for HTTP/1.1 once.
package final class SharedHead: Sendable {
    package let status: HTTPResponse.Status
    package let fields: HTTPFields
    /// Length of the body in bytes.
    private let contentLength: Int
    private let rendered = Mutex<ByteBuffer?>(nil)

    /// Copies the head of a reply, which must be complete: no field can be added later.
    package init(_ reply: ListenerReply) {
        self.status = reply.status
        self.fields = reply.fields
        self.contentLength = reply.body.count
    }

    /// The status line and the fields without `Date`, each with its line ending; all callers share the bytes.
    var http1: ByteBuffer {
        self.rendered.withLock { rendered in
            if let rendered { return rendered }
            let made = Self.http1(self.status, self.fields, contentLength: self.contentLength)
            rendered = made
            return made
        }
    }

    /// Renders a status line and fields.
    ///
    /// Spec: RFC 9112 §4 and §5.
    ///
    /// - Parameter contentLength: Length of the body in bytes; `nil` if the end of the connection ends the body.
    ///   Omitted for a status without a body.
    static func http1(_ status: HTTPResponse.Status, _ fields: HTTPFields, contentLength: Int?) -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: 512)
        buffer.writeString("HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n")
        for field in fields {
            buffer.writeString(field.name.rawName)
            buffer.writeStaticString(": ")
            buffer.writeString(field.value)
            buffer.writeStaticString("\r\n")
        }
        if status.mayHaveBody, let contentLength { buffer.writeString("content-length: \(contentLength)\r\n") }
        return buffer
    }
}

extension HTTPResponse.Status {
    /// True if a reply with this status may have a body. RFC 9110 §6.4.1: 1xx, 204 and 304 have no content.
    var mayHaveBody: Bool { self.code >= 200 && self.code != 204 && self.code != 304 }
}
