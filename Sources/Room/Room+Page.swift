import Control
import Origin
import PipelineSpec

extension Room {
    /// The options of the operators' listener, beside the API.
    ///
    /// - Parameter content: The content of the viewers' listener; `nil` if there is none.
    func controlDoors(_ content: (any OriginContent)?) -> ControlListenerOptions {
        var doors = ControlListenerOptions()
        doors.player = ViewerPage.player
        doors.opensReads = self.pipeline.control.openReads
        doors.allowOrigins = self.pipeline.control.allowOrigins
        doors.logs = self.settings.logs
        doors.versions = self.settings.versions
        doors.requestsPerSecond = self.pipeline.control.maxRequestsPerSecond
        guard let content, let hls = self.pipeline.hls else { return doors }
        doors.keyOrigin = hls.encryption?.keyURI.flatMap { ViewerPage.origin(of: $0) }
        let responder = OriginResponder(content: content, policy: CORSPolicy(allowOrigins: []), roomTitle: "")
        doors.media = ControlListenerOptions.Media(isReading: hls.http.signedURLs == nil) { request, answer in
            responder.reply(to: request, answer)
        }
        return doors
    }
}
