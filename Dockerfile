# golang:1.26.5, by its digest, so that what is in the image changes only with this line
FROM --platform=$BUILDPLATFORM golang:1.26.5@sha256:3aff6657219a4d9c14e27fb1d8976c49c29fddb70ba835014f477e1c70636647 AS build
ARG TARGETOS TARGETARCH
# The tag of a release, as v1.2.3
ARG TAG=
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -buildvcs=false \
        -ldflags="-s -w -X github.com/gpu-triage/triage/rules/release.tag=$TAG" -o /out/triage ./cmd/triage \
    && .ci/licences /out/licences && cp LICENSE /out/licences/ && mkdir /out/data

FROM scratch
LABEL org.opencontainers.image.source=https://github.com/gpu-triage/triage org.opencontainers.image.licenses=Apache-2.0
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /out/licences /licences
COPY --from=build /out/triage /triage
COPY --from=build --chown=65532:65532 /out/data /data
USER 65532:65532
WORKDIR /data
ENTRYPOINT ["/triage"]
