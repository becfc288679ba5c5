# The bench alone, for a job whose host is in the same image or a driver beside
# it: COPY --from=leakbench /leakbench /usr/local/bin/leakbench is the usual way
# into an image that has your host. It needs nothing but itself.
# 1.26.5. The digest is that of docker-library/repo-info, repos/golang/remote/1.26.md, at its commit 01b535c0.
FROM golang:1.26@sha256:3aff6657219a4d9c14e27fb1d8976c49c29fddb70ba835014f477e1c70636647 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=""
ARG COMMIT=""
ARG DATE=""
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false \
    -ldflags "-s -w -buildid= -X main.version=${VERSION} -X main.commit=${COMMIT} -X main.date=${DATE}" -o /image/leakbench ./cmd/leakbench \
    && mkdir /image/tmp /image/work && chmod 1777 /image/tmp /image/work

FROM scratch
# The folders come with it, since a copied folder keeps its mode only inside of
# what is copied: any user may write into /tmp and /work, as --user 1000 does.
COPY --from=build /image/ /
WORKDIR /work
ENTRYPOINT ["/leakbench"]
