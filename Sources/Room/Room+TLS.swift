import MediaTypes
import NIOPosix
import PipelineSpec
import Threading
import TLSFiles

extension CertificateFiles {
    init(_ settings: TLSSettings) { self.init(certificate: settings.certificate, key: settings.key) }
}

extension Room {
    /// The certificate of a listener, looked at every second from now on.
    ///
    /// - Parameter place: Names the listener in events and errors, such as `viewer`.
    /// - Throws: What ``CertificatePair/load(_:place:)`` throws.
    func openCertificates(_ settings: TLSSettings?, place: String) throws(MediaError) -> CertificateStore? {
        guard let settings else { return nil }
        let store = try CertificateStore(CertificateFiles(settings), place: place)
        self.warn(of: store, place)
        let watch = CertificateWatch(store, on: MultiThreadedEventLoopGroup.singleton.any()) { [weak self] look in
            self?.certificatesLooked(look, store, place)
        }
        self.listeners.update { $0.certificates.append(watch) }
        return store
    }

    private func certificatesLooked(_ look: CertificateStore.Look, _ store: CertificateStore, _ place: String) {
        switch look {
        case .unchanged: break
        case .renewed(let validUntil):
            self.logger.info("new certificate", metadata: ["listener": "\(place)", "validUntil": "\(validUntil)"])
            self.events.emit(
                "tls.renewed", ["listener": .string(place), "validUntil": .string(CertificateAlarm.date(validUntil))])
            self.warn(of: store, place)
        case .refused(let error):
            self.logger.warning("new certificate refused, the old one stays", metadata: ["error": "\(error)"])
            self.events.emit(
                "tls.refused",
                [
                    "listener": .string(place), "reason": .string(error.what), "fix": .string(error.fix),
                    "validUntil": .string(CertificateAlarm.date(store.current.validUntil)),
                ])
        }
    }

    private func warn(of store: CertificateStore, _ place: String) {
        guard let problem = store.current.timeProblem(now: self.clocks.wall.now() / TimeMath.nanoseconds) else {
            return
        }
        self.logger.warning(
            "clients will refuse the certificate", metadata: ["listener": "\(place)", "reason": "\(problem)"])
    }

    /// What is wrong with them now, by the time of day.
    var certificateAlarms: [AlarmBook.Alarm] {
        let now = self.clocks.wall.now() / TimeMath.nanoseconds
        return self.listeners.certificates.compactMap { store in
            let pair = store.current
            return CertificateAlarm.of(
                store.place, validFrom: pair.validFrom, validUntil: pair.validUntil, now: now)
        }
    }
}

extension RoomChecks {
    /// Why a listener could not use the certificate, or its clients would not.
    static func problem(of settings: TLSSettings, wall: any WallClock) -> SpecChecks.CertificateProblem? {
        do throws(MediaError) {
            let pair = try CertificatePair.load(CertificateFiles(settings), place: "tls")
            return pair.timeProblem(now: wall.now() / TimeMath.nanoseconds).map {
                .doubtful(SpecChecks.Problem("\($0), and clients refuse it", fix: "renew \(settings.certificate)"))
            }
        } catch {
            return .unusable(SpecChecks.Problem(error.what, fix: error.fix))
        }
    }
}
