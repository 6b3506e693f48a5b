# Builds Tandem's image: `docker build -t tandem .` or `podman build -t tandem .`
# BUILDER and BASE must both be Debian 12, since the program links the FFmpeg of the base. If BUILDER already contains the program
# as /out/usr/bin/tandem, then nothing is compiled (deploy/image creates such a BUILDER without a registry).
ARG BUILDER=docker.io/library/swift:6.2-bookworm
ARG BASE=docker.io/library/debian:bookworm-slim

FROM ${BUILDER} AS build
RUN test -x /out/usr/bin/tandem || { apt-get update \
    && apt-get install -y --no-install-recommends libavcodec-dev libavformat-dev libavfilter-dev libswresample-dev libssl-dev zlib1g-dev pkg-config \
    && rm -rf /var/lib/apt/lists/*; }
WORKDIR /src
COPY . .
RUN test -x /out/usr/bin/tandem || { swift build -c release --static-swift-stdlib --product tandem -Xlinker -s \
    && install -D .build/release/tandem /out/usr/bin/tandem \
    && install -D LICENSE /out/usr/share/doc/tandem/LICENSE \
    && deploy/completions .build/release/tandem /out/usr; }

FROM ${BASE}
# The libraries, fonts for text overlays (Latin, Korean, Chinese and Japanese; emoji), and CA certificates.
RUN apt-get update \
    && apt-get install -y --no-install-recommends \
        ca-certificates fonts-noto-cjk fonts-symbola libavcodec59 libavfilter8 libavformat59 libssl3 libswresample4 \
    && rm -rf /var/lib/apt/lists/* /usr/share/doc/*/changelog* /usr/share/man/*
COPY --from=build /out/ /
# Rooms write only below this directory; everything else can be read-only.
RUN mkdir -p /var/lib/tandem /etc/tandem && chown 65532:65532 /var/lib/tandem
USER 65532:65532
WORKDIR /var/lib/tandem
VOLUME /var/lib/tandem
ENV LANG=C.UTF-8
EXPOSE 1935 8080
STOPSIGNAL SIGTERM
LABEL org.opencontainers.image.title="Tandem" \
    org.opencontainers.image.description="A live worker for one room: RTMP in, one picture, a ladder of HLS out" \
    org.opencontainers.image.licenses="Apache-2.0 AND GPL-2.0-or-later"
# The control address that `tandem manifest` writes into the pipeline.
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s \
    CMD ["/usr/bin/tandem", "healthcheck", "http://127.0.0.1:8081"]
ENTRYPOINT ["/usr/bin/tandem"]
CMD ["run", "/etc/tandem/pipeline.json"]
