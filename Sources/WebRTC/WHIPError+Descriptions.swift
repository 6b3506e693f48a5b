package import MediaTypes

/// Errors in offers and fragments.
extension WHIPError {
    /// The text is not a session description.
    package static func malformed(_ detail: String, line: Int? = nil) -> WHIPError {
        WHIPError(
            400, "malformedDescription", title: "Malformed session description",
            detail: line.map { "line \($0): \(detail)" } ?? detail,
            fix: "send the offer or fragment as the client's WebRTC library wrote it")
    }

    /// The text exceeds a limit of its size.
    package static func tooLarge(
        _ detail: String, fix: String = "offer one video and one audio section, with the codecs that are needed"
    ) -> WHIPError {
        WHIPError(413, "descriptionTooLarge", title: "Session description too large", detail: detail, fix: fix)
    }

    /// The offer is valid, but not one that a WHIP or WHEP endpoint can accept.
    package static func unacceptable(_ detail: String, fix: String) -> WHIPError {
        WHIPError(422, "unacceptableOffer", title: "Offer cannot be accepted", detail: detail, fix: fix)
    }

    /// A section of the offer has no codec that is accepted, or no section of a viewer's offer can be sent.
    package static func noCommonCodec(_ detail: String, fix: String) -> WHIPError {
        WHIPError(422, "noCommonCodec", title: "No codec in common", detail: detail, fix: fix)
    }
    /// The session of an offer could not be created.
    ///
    /// - Parameter error: What ``PeerTransport`` has thrown. ``MediaError/Code/rejected``: the offer has no fingerprint that can
    ///   be used. Other codes are no fault of the offer, for example a lack of memory.
    package static func noSession(_ error: MediaError) -> WHIPError {
        guard error.code == .rejected else { return .overloaded(error.what, retryAfter: 5) }
        return .unacceptable(error.what, fix: "offer a certificate fingerprint with sha-256")
    }
}
