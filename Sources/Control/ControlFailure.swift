/// The error of a failed request: an error code, what is wrong, and what to send instead.
package struct ControlFailure: Error, Sendable, Hashable {
    /// One mistake in a document that a client sent.
    package struct Detail: Sendable, Hashable {
        /// JSON path of the value, such as `panes[1].width`; empty for the document itself.
        package let path: String
        /// Line of the mistake, from 1; 0 if unknown. ``column`` is counted in the same way.
        package let line: Int
        package let column: Int
        package let what: String
        package let fix: String

        package init(path: String, line: Int, column: Int, what: String, fix: String) {
            self.path = path
            self.line = line
            self.column = column
            self.what = what
            self.fix = fix
        }
    }

    /// Stable error code, such as `notFound`.
    package let code: String
    /// The number that NetEase's live service uses for this error, such as 1404; 0 if it has none.
    package let number: Int
    /// HTTP status: 400, 401, 403, 404, 405, 409, 410, 412, 413, 415, 422, 429, 500, 502 or 503.
    package let status: Int
    /// What is wrong: one sentence without a full stop.
    package let what: String
    package let fix: String
    /// The mistakes in the document, at most 64, if the error is about a document; otherwise empty.
    package var details: [Detail] = []

    package init(code: String, number: Int, status: Int, what: String, fix: String) {
        self.code = code
        self.number = number
        self.status = status
        self.what = what
        self.fix = fix
    }

    /// The request is malformed. With another status: a value is not allowed (422), or the method (405) or the media
    /// type (415) is wrong.
    package static func invalidFormat(_ what: String, fix: String, status: Int = 400) -> ControlFailure {
        ControlFailure(code: "invalidFormat", number: 1400, status: status, what: what, fix: fix)
    }

    /// A newer change has superseded this request, or the request names an outdated revision.
    package static func superseded(_ what: String, fix: String) -> ControlFailure {
        ControlFailure(code: "superseded", number: 1301, status: 409, what: what, fix: fix)
    }

    /// A newer worker has taken over the room.
    package static let workerIsSuperseded = ControlFailure(
        code: "superseded", number: 1301, status: 503, what: "a newer worker serves this room",
        fix: "send the command to that worker")

    /// The change is possible only with a restart of the worker.
    package static func needsRestart(_ what: String, fix: String) -> ControlFailure {
        ControlFailure(code: "needsRestart", number: 0, status: 409, what: what, fix: fix)
    }

    /// A limit has been reached.
    package static func limitExceeded(_ what: String, fix: String) -> ControlFailure {
        ControlFailure(code: "limitExceeded", number: 1402, status: 429, what: what, fix: fix)
    }

    /// An image cannot be used.
    package static func imageError(_ what: String, fix: String) -> ControlFailure {
        ControlFailure(code: "imageError", number: 1512, status: 422, what: what, fix: fix)
    }

    /// The room has ended or is ending, or this worker hands it over.
    package static func roomExited(_ what: String, fix: String) -> ControlFailure {
        ControlFailure(code: "roomExited", number: 1401, status: 410, what: what, fix: fix)
    }

    /// The request names something that does not exist in this room.
    package static func notFound(_ what: String, fix: String) -> ControlFailure {
        ControlFailure(code: "notFound", number: 1404, status: 404, what: what, fix: fix)
    }

    /// The request is valid but failed.
    package static func requestFailed(_ what: String, fix: String) -> ControlFailure {
        ControlFailure(code: "requestFailed", number: 1417, status: 502, what: what, fix: fix)
    }

    /// The state of the room does not allow the requested change.
    package static func conflict(_ what: String, fix: String) -> ControlFailure {
        ControlFailure(code: "requestFailed", number: 1417, status: 409, what: what, fix: fix)
    }

    /// The scene's layout is invalid.
    package static func invalidLayout(_ what: String, fix: String) -> ControlFailure {
        ControlFailure(code: "invalidLayout", number: 1501, status: 422, what: what, fix: fix)
    }

    /// The client has no permission. Status 401 asks for a token; 403 means that the client, its token or the requested
    /// file or server is not permitted.
    package static func authDenied(_ what: String, fix: String, status: Int = 403) -> ControlFailure {
        ControlFailure(code: "authDenied", number: 0, status: status, what: what, fix: fix)
    }

    /// The body, or a part of it, exceeds a size limit.
    package static func inputTooLarge(_ what: String, fix: String) -> ControlFailure {
        ControlFailure(code: "inputTooLarge", number: 0, status: 413, what: what, fix: fix)
    }
}
